import { readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { parseUrl } from '../../model/url.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The address of a database with its password, where it has one or where the environment or the password file of Postgres has one for it.
 * Throws one sentence where it cannot be read, and says nothing of the address itself, which may hold a password.
 *
 * @param by the flag or variable that holds it
 */
export function postgresAddress(typed: string, by: string, environment: Environment): string {
  if (!/^postgres(ql)?:\/\//.test(typed))
    throw new UsageError(
      `${by} is not the address of a Postgres database. Write it like postgres://user@host/database`,
    )
  const url = parseUrl(typed)
  // The rest of a password would be taken for a port or a path, and shown.
  if (url === null || /[@#]/.test(url.pathname + url.search + url.hash))
    throw new UsageError(
      `${by} cannot be read as an address. Write / ? # @ and % of its password as %2F %3F %23 %40 and %25, or leave the password out and set PGPASSWORD`,
    )
  const password = hasPassword(url)
    ? null
    : (environment.PGPASSWORD ?? passwordInFile(passwordFile(environment), ownerOf(url, environment)))
  if (password !== null) url.searchParams.set('password', password)
  return url.href
}

/** Whether what was typed is an address with its password. */
export function showsPassword(typed: unknown): boolean {
  const url = typeof typed === 'string' && typed.startsWith('postgres') ? parseUrl(typed) : null
  return url !== null && hasPassword(url)
}

function hasPassword({ password, searchParams }: URL): boolean {
  return password !== '' || searchParams.has('password')
}

/** A database as lines of a password file name it. */
interface PasswordOwner {
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
}

/** What an address leaves out is as the programs of Postgres complete it. */
function ownerOf({ hostname, port, pathname, username, searchParams }: URL, env: Environment): PasswordOwner {
  const { PGHOST = 'localhost', PGPORT = '5432', PGUSER = userInfo().username } = env
  const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || PGHOST)
  const user = searchParams.get('user') ?? (decodeURIComponent(username) || PGUSER)
  return {
    host: host.startsWith('/') ? 'localhost' : host.replace(/^\[|\]$/g, ''),
    port: searchParams.get('port') ?? (port || PGPORT),
    database: decodeURIComponent(pathname.slice(1)) || (env.PGDATABASE ?? user),
    user,
  }
}

function passwordFile({ PGPASSFILE, APPDATA, HOME = homedir() }: Environment): string {
  if (PGPASSFILE !== undefined) return PGPASSFILE
  return APPDATA === undefined ? join(HOME, '.pgpass') : join(APPDATA, 'postgresql', 'pgpass.conf')
}

/** The password of the first line that fits; null where none fits, or where the file cannot be read. */
function passwordInFile(file: string, owner: PasswordOwner): string | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return null
  }
  const password = passwordIn(text, owner)
  // The programs of Postgres leave such a file aside, too.
  if (password !== null && process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    throw new UsageError(
      `Others may read the password file ${file}, so it is not used. Run: chmod 600 ${file}`,
    )
  return password
}

/** In the format of ~/.pgpass: host:port:database:user:password, where * fits everything, and a backslash stands before : and \. */
export function passwordIn(text: string, { host, port, database, user }: PasswordOwner): string | null {
  const wanted = [host, port, database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields.length === 5 && wanted.every((one, index) => ['*', one].includes(fields[index] as string)))
      return fields[4] as string
  }
  return null
}

function fieldsOf(line: string): readonly string[] {
  const fields = ['']
  for (const [sign] of line.matchAll(/\\.|./g)) {
    if (sign === ':' && fields.length < 5) fields.push('')
    else fields[fields.length - 1] += sign.length === 2 ? sign.slice(1) : sign
  }
  return fields
}
