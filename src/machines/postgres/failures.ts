import { connect } from 'node:net'
import { UsageError } from '../../model/errors.ts'
import { JournalUnreachable } from '../../store/shared/journal.ts'

/** What a database is asked for, in sentences to people. */
export interface Purpose {
  /** What names the database. */
  readonly address: string
  /** What to do where a right is missing; null where the command says that. */
  readonly grant: string | null
}

/** Which database it is, for people: no password is in it. */
export interface DatabasePlace {
  /** Host and port. */
  readonly server: string
  readonly database: string
  readonly user: string
  /** Whether a password was given for it. */
  readonly hasPassword: boolean
  readonly purpose: Purpose
}

/** Server and database. */
export function placeName({ server, database }: DatabasePlace): string {
  return `${server}/${database}`
}

/**
 * What an error of the driver or of the database means: `JournalUnreachable` where waiting may cure it, `UsageError` where people must
 * do something first, and the error as it is where it is a mistake of ours.
 */
export function failureOf(error: unknown, place: DatabasePlace): unknown {
  const failure = ofPooler(error as Failure)
  const outage = outageOf(failure, place)
  if (outage !== null) return new JournalUnreachable(outage, { cause: error })
  const refusal = refusalOf(failure, place)
  return refusal === null ? error : new UsageError(refusal, { cause: error })
}

/** What the database said, or the system. */
interface Failure {
  readonly code?: string
  readonly message: string
  /** Of the system's errors: what it was asked for. */
  readonly syscall?: string
  /** Where several addresses of a host were tried: why each failed. */
  readonly errors?: readonly Failure[]
}

/** PgBouncer gives one code to all that it says itself: what the words say is told by the code that the database would give. */
function ofPooler(failure: Failure): Failure {
  const { code, message } = failure
  if (code !== '08P01') return failure
  const meant = [
    [/authentication failed|no such user/, '28P01'],
    [/no such database|database .* does not exist/, '3D000'],
    [/unsupported startup parameter|not allowed|required/, refusedByPooler],
  ] as const
  const known = meant.find(([words]) => words.test(message))?.[1]
  return { message, code: known ?? '08000' }
}

const refusedByPooler = '08P01'

/** The code that a database gave to an error of its own; null for errors of others. */
export function sqlState(error: unknown): string | null {
  const { code } = ((error as Error).cause ?? error) as { readonly code?: string }
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : null
}

/** A change that stood in the way of another one: done again, it may succeed at once. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '')
}

/**
 * Failures that pass, by the first signs of their codes:
 * - 08: connections. 57P: servers that stop, start, recover or were told to end a session. 25006: copies that are about to take over.
 * - 57014, 55P03, 25P03, 25P04: a statement or transaction that someone cancelled, or that took longer than a limit of the server
 *   (`statement_timeout`, `lock_timeout`, `idle_in_transaction_session_timeout`, `transaction_timeout`): done again it may be quicker.
 * - 53, 55000, 55006, 58, XX: the server lacks connections, memory or room, is not ready, or its files or its own program fail, until
 *   someone mends that. It is no mistake of ours, and what was paid for waits in memory.
 * - 40: changes that stood in the way of others.
 */
const passing = /^(08(?!P)|25006|25P0[34]|40|53|55000|55006|55P03|57014|57P|58|XX)/

const byNetwork: Readonly<Record<string, (server: string) => string>> = {
  ECONNREFUSED: (server) => `nothing listens at ${server}`,
  ENOENT: (server) => `nothing listens at ${server}`,
  ENOTFOUND: (server) => `the host of ${server} is not known`,
  EAI_AGAIN: (server) => `the host of ${server} cannot be looked up now`,
  ETIMEDOUT: (server) => `${server} does not answer`,
  EHOSTUNREACH: (server) => `there is no way to ${server}`,
  ENETUNREACH: (server) => `there is no way to ${server}`,
}

/** Why the database cannot be reached now; null where it is something else. */
function outageOf(
  { code = '', message, syscall, errors }: Failure,
  { server }: DatabasePlace,
): string | null {
  if (sqlState({ code }) !== null) return passing.test(code) ? `${server} says: ${message}` : null
  const [first] = errors ?? []
  const asked = syscall ?? first?.syscall ?? ''
  if (['connect', 'getaddrinfo', 'read', 'write'].includes(asked) && code !== 'EPROTO')
    return (byNetwork[code] ?? broken)(server)
  if (/timeout/i.test(message)) return `${server} does not answer`
  if (/^Connection terminated|not queryable|establishing an SSL connection/.test(message))
    return broken(server)
  return null
}

function broken(server: string): string {
  return `${server} broke the connection`
}

/** What people must do before the database can be used; null where it is something else. */
function refusalOf({ code = '', message }: Failure, place: DatabasePlace): string | null {
  const { server, database, user, hasPassword } = place
  const { address, grant } = place.purpose
  if (code === '3D000')
    return `There is no database '${database}' at ${server}. Name another one in ${address}, or have this one made: createdb ${database}`
  if (/client password must be|empty password/.test(message) || (code === '28P01' && !hasPassword))
    return `${server} asks for the password of user '${user}', and none was given. Set PGPASSWORD, or put it into ~/.pgpass`
  if (code === '28P01')
    return `${server} refuses user '${user}' with this password. Check both in ${address}, PGPASSWORD or ~/.pgpass`
  if (code === '28000' && message.includes('no encryption'))
    return `${server} wants TLS (${message}). Add ?sslmode=verify-full to ${address}`
  if (code.startsWith('28'))
    return `${server} does not let in user '${user}' (${message}). Name another one in ${address}, or have this one let in`
  if (code === '42501' && grant !== null)
    return `User '${user}' may not do that at ${placeName(place)} (${message}). ${grant}`
  if (message.includes('does not support SSL'))
    return `${server} does not speak TLS, which ${address} asks for. Switch it on there, or write sslmode=disable where the network can be trusted`
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `The certificate of ${server} is not trusted here (${message}). Name the file with the certificate of who signed it: add sslrootcert=<file> to ${address}`
  if (/^(EPROTO|ERR_SSL|ERR_TLS)/.test(code))
    return `${server} and this machine find no common TLS (${message}). Update the one that is older`
  if (code === refusedByPooler || message.startsWith('SASL'))
    return `${server} cannot be used as it is asked (${message}). Check ${address}, and the pooler if there is one before the database`
  return null
}

const probeMs = 2_000
/** Postgres's question whether the server speaks TLS. A server answers it with one letter, before anything else. */
const tlsQuestion = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Whether what listens there is certainly no Postgres server. One that breaks connections, or is silent, may be one. */
export async function isOtherServer({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<boolean> {
  if (host.startsWith('/')) return false
  return await new Promise((resolve) => {
    const socket = connect(port, host)
    const end = (isOther: boolean): void => {
      socket.destroy()
      resolve(isOther)
    }
    socket.setTimeout(probeMs, () => end(false))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
    socket.once('connect', () => socket.write(tlsQuestion))
    socket.once('data', (answer) => {
      const isLetter = answer.length === 1 && 'SN'.includes(answer.toString('latin1'))
      // An error of Postgres: its letter, then its length.
      const isError = answer[0] === 'E'.charCodeAt(0) && answer[1] === 0
      end(!isLetter && !isError)
    })
  })
}
