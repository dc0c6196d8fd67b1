import {
  type FindPlace,
  foundDocument,
  matchedPart,
  places,
  refuseUnindexed,
  type Sought,
  soughtText,
  wantedWords,
} from '../../../arrive/find/find.ts'
import { UsageError } from '../../../model/errors.ts'
import { closestMatch, count } from '../../../model/text.ts'
import { listOption, numberOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { asStream } from '../../../output/formats/format.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databasePath } from '../../../run/config.ts'
import { openReader } from '../../../store/sqlite/open.ts'
import type { FoundText } from '../../../store/sqlite/rankings/found.ts'
import { isJsonAsked, refuseUnknownJob } from '../../arguments.ts'
import { type Command, outFlags, type TypedOptions } from '../../flags.ts'
import { fileColumns, refuseOntoJobFiles, writeOutput } from '../../output.ts'

const listedByDefault = 20

const flags = {
  ...outFlags,
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
  const json = isJsonAsked(flags)
  const limit = numberOption('--limit', flags.limit, { min: 1 }) ?? listedByDefault
  const sought = soughtText(flags.text, foundIn(flags.in))
  await using store = await openReader(databasePath(flags))
  await refuseOntoJobFiles(store, flags)
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
  const width = flags.out === undefined ? terminal.columns : fileColumns
  const text = json
    ? `${JSON.stringify(foundDocument(found, sought), null, 2)}\n`
    : foundTable(found, sought, width)
  await writeOutput(asStream(text), flags.out, terminal)
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
