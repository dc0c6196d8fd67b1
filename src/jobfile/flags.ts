import type { Match } from '../model/target.ts'
import { matches } from '../model/target.ts'
import { type Place, quoted, type Report } from './problem.ts'
import type { Source, Tree } from './tree.ts'
import { choice } from './values.ts'

type Text = string | undefined
type Texts = readonly string[] | undefined

/** Settings given on the command line, each as the user typed it; they win over the file's. */
export interface JobFlags {
  readonly name?: Text
  readonly operation?: Texts
  /** `key=value`, merged over the file's params. */
  readonly param?: Texts
  readonly depth?: Text
  readonly pages?: Text
  readonly paging?: Text
  readonly until?: Text
  readonly deepEvery?: Text
  readonly style?: Text
  readonly async?: Text
  readonly freshness?: Text
  readonly strictEcho?: Text
  readonly timezone?: Text
  readonly schedule?: Text
  /** In place of the file's targets. */
  readonly target?: Texts
  /** In place of the file's competitors. */
  readonly competitor?: Texts
  /** For every target that names no match itself. */
  readonly match?: Text
  readonly maxCredits?: Text
  readonly keep?: Text
}

const spelled: Readonly<Record<string, string>> = {
  params: '-p',
  targets: '--target',
  competitors: '--competitor',
  max_credits: '--max-credits',
  deep_every: '--deep-every',
  strict_echo: '--strict-echo',
}

/** Where a mistake in a flag stands. */
export function flagPlace(key: string): Place {
  return { where: spelled[key] ?? `--${key}`, line: null, column: null }
}

/** The flags as a job file would say them. */
export function flagsSource(flags: JobFlags, report: Report): Source {
  const { name, operation, depth, pages, paging, until, style, async, freshness, timezone, schedule } = flags
  const tree = given({
    name,
    operation,
    params: flags.param === undefined ? undefined : splitParams(flags.param, report),
    depth,
    pages,
    paging,
    until,
    deep_every: flags.deepEvery,
    style,
    async,
    freshness,
    strict_echo: flags.strictEcho,
    timezone,
    schedule,
    targets: flags.target,
    competitors: flags.competitor,
    budget: given({ max_credits: flags.maxCredits, keep: flags.keep }),
  })
  return { tree, at: (path) => flagPlace(String(path[0] === 'budget' ? path[1] : path[0])) }
}

/** The match that `--match` names; undefined where it is not given or wrong, which is reported. */
export function flagMatch(flags: JobFlags, report: Report): Match | undefined {
  if (flags.match === undefined) return undefined
  const read = choice(matches)(flags.match.trim())
  if ('value' in read) return read.value
  report({ ...flagPlace('match'), what: `match ${read.what}`, instead: read.instead })
  return undefined
}

function given(parts: Readonly<Record<string, Tree | undefined>>): Readonly<Record<string, Tree>> {
  return Object.fromEntries(
    Object.entries(parts).filter((entry): entry is [string, Tree] => entry[1] !== undefined),
  )
}

function splitParams(params: readonly string[], report: Report): Tree {
  const tree: Record<string, Tree> = Object.create(null)
  for (const param of params) {
    const [, key = '', value = ''] = param.match(/^\s*([^=\s]+)\s*=(.*)$/s) ?? []
    if (key === '' || key === '__proto__')
      report({
        ...flagPlace('params'),
        what: `cannot be ${quoted(param)}`,
        instead: 'write key=value such as gl=us',
      })
    else if (key in tree)
      report({ ...flagPlace('params'), what: `${quoted(key)} is given twice`, instead: 'give it once' })
    else tree[key] = value
  }
  return tree
}
