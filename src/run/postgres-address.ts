import { readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../model/errors.ts'
import { isLoopback, parseUrl } from '../model/url.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The address of a database with its password, where it has one or where the environment or the password file of Postgres has one for it.
 * Throws one sentence where it cannot be read, and says nothing of the address itself, which may hold a password.
 *
 * @param by the option or variable that holds it
 */
function postgresAddress(typed: string, by: string, environment: Environment): string {
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
  if (wayOf(url, environment) === 'clear')
    throw new UsageError(
      `${by} would send the password and the data in the clear. Add ?sslmode=verify-full to it, or ?sslmode=disable if that is meant`,
    )
  const password = hasPassword(url)
    ? null
    : (environment.PGPASSWORD ?? passwordInFile(passwordFile(environment), ownerOf(url, environment)))
  if (password !== null) url.searchParams.set('password', password)
  return url.href
}

/** A line where an address says that nothing is to encrypt what is sent to another machine; null for all others. */
function unencryptedNote(address: string, by: string, environment: Environment): string | null {
  if (wayOf(new URL(address), environment) !== 'clear-as-meant') return null
  return `Nothing encrypts the connection to the database that ${by} names, as its sslmode=disable says: the password and the data can be read on their way.`
}

/** Words of the driver that ask for TLS; `allow` in the environment does not. */
const encrypting = ['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** What goes to another machine is encrypted, in the clear because that was said, or in the clear because nothing was said. */
function wayOf(url: URL, env: Environment): 'here' | 'encrypted' | 'clear-as-meant' | 'clear' {
  const { searchParams } = url
  const host = hostOf(url, env).toLowerCase()
  if (host.startsWith('/') || host === '::1' || isLoopback(host)) return 'here'
  const typed = searchParams.get('sslmode')
  const mode = typed ?? env.PGSSLMODE
  if (mode === 'disable') return 'clear-as-meant'
  const asks = ['sslcert', 'sslkey', 'sslrootcert'].some((name) => searchParams.has(name))
  const isOn = ['1', 'true'].includes(searchParams.get('ssl') ?? '')
  const isNamed = encrypting.includes(mode ?? '') || typed === 'allow'
  return asks || isOn || isNamed ? 'encrypted' : 'clear'
}

/** The server of an address; where it names none, that of the environment, as the programs of Postgres have it. */
function hostOf({ hostname, searchParams }: URL, { PGHOST }: Environment): string {
  return searchParams.get('host') ?? (decodeURIComponent(hostname) || PGHOST || 'localhost')
}

/** Whether what was typed is an address with its password. */
function showsPassword(typed: unknown): boolean {
  const url = typeof typed === 'string' && typed.startsWith('postgres') ? parseUrl(typed) : null
  return url !== null && hasPassword(url)
}

function hasPassword({ password, searchParams }: URL): boolean {
  return password !== '' || searchParams.has('password')
}

/** A database as lines of a password file name it. */
type PasswordOwner = ReturnType<typeof ownerOf>

/** What an address leaves out is as the programs of Postgres complete it. */
function ownerOf(url: URL, env: Environment) {
  const { port, pathname, username, searchParams } = url
  const { PGPORT = '5432', PGUSER = userInfo().username } = env
  const host = hostOf(url, env)
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

/** Addresses of Postgres as people write them. */
export const postgresAddresses = {
  showsPassword,
  of: postgresAddress,
  unencryptedNote,
}
