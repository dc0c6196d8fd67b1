import { UsageError } from '../../../model/errors.ts'
import { closestMatch, count } from '../../../model/text.ts'
import { listOption, numberOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { asStream } from '../../../output/formats/format.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { openReader, type Store } from '../../../store/sqlite/open.ts'
import type { FoundText } from '../../../store/sqlite/rankings/text-index.ts'
import { formatArguments, refuseUnknownJob } from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

/** Where words are looked for. */
export const places = ['titles', 'snippets', 'links', 'ai'] as const

const listedByDefault = 20

const flags = {
  ...sharedFlags.out,
  in: { ...listOption(`Look here only: ${places.join(', ')}; default: all of them`), values: places },
  job: textOption('What this job asked only'),
  limit: textOption(`How many to list, the newest [${listedByDefault}]`),
} satisfies OptionSpecs

type FindFlags = TypedOptions<typeof flags> & { readonly text: string }

export const findCommand = {
  flags,
  docs: 'docs/clusters.md',
  examples: [
    ["find 'oak desk'", 'results and AI answers with both words'],
    ['find \'"free returns"\' --in snippets --job acme', 'words that stand together'],
    ['find rival.com --in links --json', 'for programs'],
  ],
  run: find,
} satisfies Command

/** `rankline find`: words in what is stored. */
async function find(flags: FindFlags, terminal: Terminal): Promise<number> {
  const json = formatArguments.isJsonAsked(flags)
  const limit = numberOption('--limit', flags.limit, { min: 1 }) ?? listedByDefault
  const sought = soughtText(flags.text, foundIn(flags.in))
  await using store = await openReader(databaseFile.path(flags))
  await outFile.refuseOntoJobFiles(store, flags)
  if (flags.job !== undefined) await refuseUnknownJob(store, flags.job)
  using _ = store.snapshot()
  refuseUnindexed(store, terminal.log)
  const found: FoundText[] = []
  let hasMore = false
  for (const one of store.foundTexts(wantedWords(sought), flags.job ?? null)) {
    hasMore = found.length === limit
    if (hasMore) break
    found.push(one)
  }
  const width = flags.out === undefined ? terminal.columns : outFile.columns
  const text = json
    ? `${JSON.stringify(foundDocument(found, sought), null, 2)}\n`
    : foundTable(found, sought, width)
  await outFile.write(asStream(text), flags.out, terminal)
  if (found.length === 0) note(terminal, 'Nothing that is stored has these words.')
  if (hasMore) note(terminal, `There are more than ${count(limit, 'result')}. List more with --limit`)
  return 0
}

function foundIn(named: FindFlags['in']): readonly FindPlace[] {
  if (named === undefined) return places
  for (const one of named) {
    if ((places as readonly string[]).includes(one)) continue
    const near = closestMatch(one, places)
    throw new UsageError(
      `--in cannot be '${one}'; ${near === null ? `write one of ${places.join(', ')}` : `write ${near}`}`,
    )
  }
  return places.filter((one) => named.includes(one))
}

function foundTable(found: readonly FoundText[], sought: Sought, width: number): string {
  if (found.length === 0) return ''
  return formatTable(
    [
      { title: 'query', shrinks: true, least: 12 },
      { title: 'day' },
      { title: 'kind', dropped: true },
      { title: 'rank', align: 'right' },
      { title: 'title', shrinks: true, least: 16 },
      { title: 'link', shrinks: true, least: 16 },
      { title: 'match', shrinks: true, least: 16 },
    ],
    found.map((one) => [
      sanitize(one.query),
      one.date,
      one.kind,
      one.rank === null ? '' : String(one.rank),
      sanitize(one.title ?? ''),
      sanitize(one.link ?? ''),
      sanitize(matchedPart(one, sought)?.part ?? ''),
    ]),
    width,
  )
}

type FindPlace = (typeof places)[number]

type Sought = ReturnType<typeof soughtText>

/** A letter or digit of any script: what FTS5 takes for a part of a word. */
const wordSign = /[\p{L}\p{N}\p{Co}]/u
const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu

/**
 * Reads what a person looks for: words, of which those between quotes stand together. Nothing in it is a rule of a language: a lone quote,
 * AND or * is text.
 *
 * @throws UsageError where there is no letter or digit in it
 */
export function soughtText(text: string, within: readonly FindPlace[]) {
  const parts = [...text.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([whole, quoted]) => quoted ?? whole)
  const phrases = parts.filter((part) => wordSign.test(part))
  if (phrases.length === 0)
    throw new UsageError(`'${text}' has no letter or digit to look for. Write a word, or several`)
  return { phrases, in: within }
}

/** The same as FTS5 reads it. Every phrase has to be there, in any order. */
export function wantedWords({ phrases, in: within }: Sought) {
  const all = phrases.map((phrase) => `"${phrase.replaceAll('\0', ' ')}"`).join(' AND ')
  const columns = [
    ...(within.includes('titles') ? ['title'] : []),
    ...(within.includes('snippets') ? ['snippet'] : []),
  ]
  return {
    items: columns.length === 0 ? null : `{${columns.join(' ')}} : (${all})`,
    links: within.includes('links') ? all : null,
    texts: within.includes('ai') ? all : null,
  }
}

/** Throws a sentence where there is no index of words; says where it is behind. */
export function refuseUnindexed(store: Pick<Store, 'textIndex'>, log: (line: string) => void): void {
  const { exists, missing } = store.textIndex()
  if (!exists)
    throw new UsageError('There is no index of words in this database yet. Make it with: rankline db index')
  if (missing > 0)
    log(
      `The index lacks ${count(missing, 'text')} that came since it was made. Bring it up to date with: rankline db index`,
    )
}

/** Characters of a matched part, about, and how much of it stands before the words. */
const partLength = 70
const leadLength = 20

/** The part of what was found that has the first of the words: where it is, and a window of it. */
export function matchedPart(
  { title, snippet, link, text }: Pick<FoundText, 'title' | 'snippet' | 'link' | 'text'>,
  { phrases, in: within }: Sought,
): { readonly place: FindPlace; readonly part: string } | null {
  const fields: Readonly<Record<FindPlace, string | null>> = {
    titles: title,
    snippets: snippet,
    links: link,
    ai: text,
  }
  const wanted = (phrases[0] as string).match(word)?.map(folded) ?? []
  for (const place of within) {
    const field = fields[place]
    const at = field === null ? null : placeOf(field, wanted)
    if (field !== null && at !== null) return { place, part: windowOf(field, at) }
  }
  return null
}

/** Where these words begin in a text, one after the other. */
function placeOf(text: string, wanted: readonly string[]): number | null {
  const found = [...text.matchAll(word)].map(({ 0: one, index }) => ({ word: folded(one), index }))
  const at = found.findIndex((_, start) => wanted.every((one, next) => found[start + next]?.word === one))
  return at === -1 ? null : (found[at]?.index as number)
}

/** A word without case and accents, as the index has it. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

function windowOf(text: string, at: number): string {
  // Not within a word, and not within a pair of code units.
  const from =
    at <= leadLength ? 0 : at - (text.slice(at - leadLength, at).match(/\s(\S.*)?$/s)?.[1]?.length ?? 0)
  const part = Array.from(text.slice(from, from + 2 * partLength))
  const cut = part.slice(0, partLength).join('')
  return `${from > 0 ? '…' : ''}${cut}${from + cut.length < text.length ? '…' : ''}`
}

/** What was found, as a document. */
function foundDocument(found: readonly FoundText[], sought: Sought) {
  return found.map((one) => {
    const match = matchedPart(one, sought)
    return {
      kind: one.kind,
      job: one.job,
      query: one.query,
      operation: one.operation,
      params: JSON.parse(one.params) as Record<string, string | number>,
      run_id: one.run,
      date: one.date,
      fetched_at: new Date(one.fetchedAt).toISOString(),
      rank: one.rank,
      title: one.title,
      link: one.link,
      snippet: one.snippet,
      matched_in: match?.place ?? null,
      match: match?.part ?? null,
    }
  })
}
