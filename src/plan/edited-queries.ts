import { billableOperation } from '../catalog/index.ts'
import type { JobSettings } from '../model/job.ts'
import { continuedQuery, queryKey } from '../model/query.ts'
import { count, shellQuoted } from '../model/text.ts'
import { quoted } from '../model/values.ts'
import type { EditedQueries } from '../store/runs.ts'

type EditedPair = EditedQueries['pairs'][number]

/** An edit, and how many queries it turned into other queries. */
interface Edit {
  queries: number
  /** What `continues:` names it, and what things were, each as a job file writes it. */
  readonly setting: 'params' | 'operation' | 'texts'
  readonly were: string[]
  /** As it is typed as an option; null where there is none. */
  readonly typed: string | null
  /** What happened, after "because". */
  readonly because: string
}

/**
 * What an edit of a job costs its history, a sentence each: queries that became new because of one edit, with the setting that keeps
 * their history; then those of which it is only known that they came and went.
 */
export function editLines(
  { name, file, continues }: Pick<JobSettings, 'name' | 'file' | 'continues'>,
  { fresh, gone, pairs }: EditedQueries,
): readonly string[] {
  const edits = new Map<string, Edit>()
  let [told, kept] = [0, 0]
  for (const pair of closest(pairs)) {
    told += pair.queries
    if (isContinued(pair, continues)) {
      kept += pair.queries
      continue
    }
    const edit = editOf(pair)
    const key = edit.setting === 'texts' ? 'texts' : edit.were.join()
    const known = edits.get(key)
    if (known === undefined) edits.set(key, edit)
    else {
      known.queries += edit.queries
      if (edit.setting === 'texts') known.were.push(...edit.were)
    }
  }
  const isYaml = /\.ya?ml$/i.test(file)
  const lines = [...edits.values()].map((edit) => {
    const { queries, because, typed } = edit
    const way = isYaml || typed === null ? `continues: ${keepOf(edit)} in the job file` : typed
    return `${name}: ${become(queries)} new because ${because}; ${queries === 1 ? 'its' : 'their'} history ends. Keep it with ${way}`
  })
  if (kept > 0) lines.push(`${name}: ${goOn(kept)} with the history of before, which is not compared.`)
  const [came, went] = [Math.max(0, fresh - told), Math.max(0, gone - told)]
  if (came > 0 && went > 0)
    lines.push(
      `${name}: ${count(came, 'query is', 'queries are')} new, and ${count(went, 'query', 'queries')} of the last run ${went === 1 ? 'is' : 'are'} no longer asked, so ${went === 1 ? 'its' : 'their'} history ends.`,
    )
  return lines
}

function become(queries: number): string {
  return `${count(queries, 'query', 'queries')} ${queries === 1 ? 'becomes' : 'become'}`
}

function goOn(queries: number): string {
  return `${count(queries, 'query', 'queries')} ${queries === 1 ? 'goes' : 'go'} on`
}

/** Texts that a sentence names at most. */
const mostTexts = 3

function keepOf({ setting, were }: Edit): string {
  if (setting === 'operation') return `{ operation: ${were[0]} }`
  const more = were.length > mostTexts && setting === 'texts' ? ', …' : ''
  const named = setting === 'texts' ? were.slice(0, mostTexts) : were
  return `{ ${setting}: { ${named.join(', ')}${more} } }`
}

/** Each query is paired with the former one that it differs least from: a matrix asks one text in several ways. */
function closest(pairs: readonly EditedPair[]): readonly EditedPair[] {
  const best = new Map<string, { readonly pair: EditedPair; readonly differences: number }>()
  for (const pair of pairs) {
    const { operation, params, text } = pair.now
    const key = JSON.stringify([operation, params, text === pair.was.text ? null : text])
    const differences = Object.keys(changedParams(pair)).length
    const known = best.get(key)
    if (known === undefined || differences < known.differences) best.set(key, { pair, differences })
  }
  return [...best.values()].map(({ pair }) => pair)
}

/** What parameters were, where they are other ones now; null for one that was not set. */
function changedParams({ was, now }: EditedPair): Readonly<Record<string, string | number | null>> {
  const names = [...new Set([...Object.keys(was.params), ...Object.keys(now.params)])].sort()
  return Object.fromEntries(
    names
      .filter((name) => was.params[name] !== now.params[name])
      .map((name) => [name, was.params[name] ?? null]),
  )
}

function isContinued({ was, now }: EditedPair, continues: JobSettings['continues']): boolean {
  const former = continues === null ? null : continuedQuery(now, continues)
  return former !== null && queryKey(former).equals(queryKey(was))
}

function editOf(pair: EditedPair): Edit {
  const { queries, was, now } = pair
  if (was.text !== now.text)
    return {
      queries,
      setting: 'texts',
      typed: null,
      were: [`${JSON.stringify(now.text)}: ${JSON.stringify(was.text)}`],
      because: `the case of texts was changed, such as ${quoted(was.text)} to ${quoted(now.text)}`,
    }
  if (was.operation !== now.operation) {
    const isOther = billableOperation(was.operation).kind !== billableOperation(now.operation).kind
    return {
      queries,
      setting: 'operation',
      typed: null,
      were: [was.operation],
      because: `the operation was changed from ${was.operation} to ${now.operation}${isOther ? ', which has other results' : ''}`,
    }
  }
  const changed = Object.entries(changedParams(pair))
  const verbs = changed.map(([name, before]) => {
    if (before === null) return `${name} was added`
    return Object.hasOwn(now.params, name)
      ? `${name} was changed from ${quoted(String(before))}`
      : `${name} was removed`
  })
  return {
    queries,
    setting: 'params',
    were: changed.map(([name, before]) => `${name}: ${before === null ? 'null' : JSON.stringify(before)}`),
    typed: changed.map(([name, before]) => `--continues ${shellQuoted(`${name}=${before ?? ''}`)}`).join(' '),
    because: verbs.join(' and '),
  }
}
