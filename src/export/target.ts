import { UsageError } from '../model/errors.ts'

const defaultSchema = 'rankline_export'
/** Schemas with tables of others: the queue's and those of Postgres. */
const taken = /^(rankline|information_schema|pg_.*)$/
/** Bytes of a name in Postgres at most. */
const longestName = 63
const form = 'postgres://user@host/database/schema'

/**
 * Reads `postgres://user@host/database/schema`, also without the schema. Throws one sentence, which does not repeat the address: it may
 * hold a password.
 */
export function exportTarget(text: string): {
  /** Address of the database. */
  readonly url: string
  readonly schema: string
} {
  const url = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : null
  const [database = '', name = '', ...more] =
    url?.pathname.replace(/^\//, '').replace(/\/$/, '').split('/') ?? []
  if (url === null || database === '' || more.length > 0)
    throw new UsageError(`--to is not the address of a Postgres schema. Write it like ${form}`)
  url.pathname = `/${database}`
  return { url: url.href, schema: schemaOf(name) }
}

function schemaOf(text: string): string {
  const name = text === '' ? defaultSchema : decoded(text)
  if (name === null || name.includes('\0') || Buffer.byteLength(name) > longestName)
    throw new UsageError(`--to ends in what cannot be the name of a schema. Write it like ${form}`)
  if (taken.test(name))
    throw new UsageError(
      `--to names the schema ${name}, whose tables are not those of exports. Name another one, for instance ${defaultSchema}`,
    )
  return name
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
