// As a whole, so that the build can leave out what is not used of it: its messages in all languages.
import * as z from 'zod'
import { billableOperations, findOperation } from '../catalog/index.ts'
import { matches, variants } from '../model/target.ts'
import { nearest } from '../words.ts'
import { paramNames } from './params.ts'
import { quoted, type Read } from './problem.ts'
import { site } from './sites.ts'
import * as values from './values.ts'

type JsonType = Readonly<Record<string, unknown>>

/** A scalar: every value of a file is text to us, and `json` tells editors what it looks like to them. */
function scalar<T>(read: (text: string) => Read<T>, json: JsonType) {
  return z
    .string()
    .transform((written, context) => {
      const result = read(written.trim())
      if ('value' in result) return result.value
      const { what, instead } = result
      context.issues.push({ code: 'custom', input: written, message: what, params: { instead } })
      return z.NEVER
    })
    .meta(json)
}

function oneOf<const T extends string>(list: readonly T[]) {
  return scalar(values.choice(list), { enum: list })
}

// zod does not say which keys it knows when it meets an unknown one: the message of that complaint lists them.
function strict<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(' ') : undefined),
  })
}

const anyScalar = { type: ['string', 'number', 'boolean', 'null'] }
const text = scalar(values.plainText, anyScalar)
const queryText = scalar(values.queryText, anyScalar)
const positive = scalar(values.wholeNumber(1), { type: 'integer', minimum: 1 })
const credits = scalar(values.wholeNumber(0), { type: 'integer', minimum: 0 })
const tag = scalar((written) => (written === '' ? { value: '' } : values.plainText(written)), anyScalar)

/** Reads the name of a billable operation. */
export function operationName(name: string): Read<string> {
  const operation = findOperation(name)
  if (operation?.billable) return { value: name }
  const names = billableOperations.map((candidate) => candidate.name)
  const near = nearest(name, names)
  const instead = near === null ? `write one of ${names.join(', ')}` : `write '${near}'`
  if (operation === undefined) return { what: `cannot be ${quoted(name)}`, instead }
  return {
    what: `cannot be ${quoted(name)}, a free lookup that has a command of its own`,
    instead: `write one of ${names.join(', ')}`,
  }
}

const operation = scalar(operationName, { enum: billableOperations.map(({ name }) => name) })
const operations = z
  .union([operation, z.array(operation).min(1)], { error: 'an operation or a list of operations' })
  .describe('Operation of the queries, or a list of them; alpha.search if not given')

const siteText = scalar(site, { type: 'string' })
const writtenTarget = z.union(
  [
    siteText,
    strict({
      site: siteText.describe('Host or address whose rank is tracked'),
      match: oneOf(matches).optional().describe('How the site is compared with links; domain if not given'),
      also: z
        .array(oneOf(variants))
        .optional()
        .describe('Variants that count as the site, too: amp, mobile; none if not given'),
      label: text.optional().describe('Name in reports; the site if not given'),
    }),
  ],
  { error: 'a site or a map with site, match and label' },
)

const names = { propertyNames: { enum: [...paramNames] } }
const params = z.record(z.string(), text).meta(names)
const matrix = z.record(z.string(), z.union([text, z.array(text).min(1)], { error: 'a list of values' }))

/** The settings of a job, as a file writes them and flags override them. */
export const settingsSchema = strict({
  name: scalar(values.jobName, anyScalar)
    .optional()
    .describe("Name of the job; the file's name if not given"),
  operation: operations.optional(),
  params: params.optional().describe('Parameters of every query, for the operations that have them'),
  matrix: matrix
    .optional()
    .meta(names)
    .describe('Parameters with lists of values: every combination is asked'),
  depth: positive.optional().describe('Look at this many results; one page if not given'),
  pages: positive.optional().describe('Look at this many pages, in place of depth'),
  paging: oneOf(['all', 'until-found', 'smart'])
    .optional()
    .describe('Which pages are bought; all if not given'),
  until: oneOf(['own', 'all'])
    .optional()
    .describe('Whose targets until-found waits for: own, or all with competitors; own if not given'),
  deep_every: scalar(values.timeSpan, { type: 'string', pattern: '^[0-9]+[mhdw]$' })
    .optional()
    .describe('How often at least smart looks in depth for targets that are not found; 7d if not given'),
  style: oneOf(['get', 'post'])
    .optional()
    .describe('Style of the calls where the service has both; get if not given'),
  async: oneOf(['auto', 'always', 'never'])
    .optional()
    .describe('Whether alpha.images is asked for asynchronously; auto if not given'),
  freshness: scalar(values.timeSpan, { type: 'string', pattern: '^[0-9]+[mhdw]$' })
    .optional()
    .describe('Use a stored answer to the same call if it is younger, for instance 12h; never if not given'),
  strict_echo: scalar(values.yesNo, { type: 'boolean' })
    .optional()
    .describe(
      'Whether an answer that repeats another question than asked leaves ranks unknown; if not, they are suspect',
    ),
  timezone: scalar(values.timezone, { type: 'string' })
    .optional()
    .describe("IANA time zone of the job's days; UTC if not given"),
  schedule: scalar(values.schedule, { type: 'string' })
    .optional()
    .describe(
      'Cron expression, five or six fields, of which day of month and day of week are either-or and 7 is Sunday; kept with the job, cron itself does the running',
    ),
  targets: z.array(writtenTarget).optional().describe('Your sites whose rank is tracked'),
  competitors: z.array(writtenTarget).optional().describe('Sites of others whose rank is tracked'),
  budget: strict({
    max_credits: credits.optional().describe('A run may cost this much over all its continuations'),
    keep: credits.optional().describe('This much of the balance stays untouched'),
  })
    .optional()
    .describe('Limits in credits'),
})

/** One query that is more than its text. */
export const querySchema = strict({
  query: queryText.describe('Text to search for'),
  operation: operations.optional().describe('Operation of this query alone, or a list of them'),
  depth: positive.optional().describe('Look at this many results for this query'),
  pages: positive.optional().describe('Look at this many pages for this query'),
  tags: z.array(tag).optional().describe('Words to group and filter queries by'),
  target: z
    .union([siteText, ...writtenTarget.options.slice(1), z.array(writtenTarget)], {
      error: 'a site, a map with site, match and label, or a list of them',
    })
    .optional()
    .describe('Sites whose rank is tracked for this query alone'),
  priority: scalar(values.wholeNumber(Number.MIN_SAFE_INTEGER), { type: 'integer' })
    .optional()
    .describe('Higher is bought first; 0 if not given'),
  volume: credits.optional().describe('Searches per month'),
  url: scalar(values.pageUrl, { type: 'string' }).optional().describe('The page that is meant to rank'),
  params: params.optional().describe('Parameters of this query alone'),
})

/** A CSV file whose rows stand in the place of this entry. */
export const fileSchema = strict({
  file: scalar(values.plainText, { type: 'string' }).describe('CSV file, relative to the job file'),
})

/** A query that is nothing but its text. */
export const textSchema = queryText

/** The settings, with entries that are read one by one. */
export const looseJobSchema = strict({ ...settingsSchema.shape, queries: z.array(z.unknown()).min(1) })

/** A whole job file. */
export const jobSchema = strict({
  ...settingsSchema.shape,
  queries: z
    .array(z.union([textSchema, querySchema, fileSchema]))
    .min(1)
    .describe('What is searched for: texts, maps with more about one text, or CSV files'),
})

export type WrittenSettings = z.output<typeof settingsSchema>
export type WrittenQuery = z.output<typeof querySchema>

/** The JSON Schema of YAML job files (draft 7), for completion and checks in editors. */
export function jobFileJsonSchema(): object {
  return z.toJSONSchema(jobSchema, { io: 'input', target: 'draft-7' })
}
