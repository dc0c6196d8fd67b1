import * as z from 'zod'
import * as settings from '../model/job.ts'
import { kindCodes } from '../model/result.ts'
import {
  comparison,
  isDay,
  languages,
  period,
  type ReportNote,
  type ReportSettings,
  type SavedView,
} from '../model/settings/presentation.ts'
import { closestMatch } from '../model/text.ts'
import { type InvalidValue, pageUrl, plainText, quoted, type ReadResult } from '../model/values.ts'
import { condition, unknownName } from './alerts.ts'
import { readValue, scalar, strict } from './issues.ts'
import type { Report, Source } from './source.ts'

/** A title or a note stands in one place of a page. */
const mostLetters = 1000

const file = scalar({ read: plainText, json: { type: 'string' } })
const words = scalar({ read: shortText, json: { type: 'string' } })
const list = z.array(words).min(1).optional()

/** Reads words that a page shows. */
function shortText(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read) || read.value.length <= mostLetters) return read
  return { message: `${quoted(text)} is too long`, fix: `write at most ${mostLetters} characters` }
}

/** Reads a colour of a report. */
function colour(text: string): ReadResult<string> {
  if (/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)) return { value: text.toLowerCase() }
  return { message: `cannot be ${quoted(text)}`, fix: 'write a colour such as "#0a5" or "#00aa55"' }
}

function date(text: string): ReadResult<string> {
  if (isDay(text)) return { value: text }
  return { message: `cannot be ${quoted(text)}`, fix: 'write a day such as 2026-01-31' }
}

/** `report:` of a job file. */
export const reportSchema = strict({
  title: words.optional().describe('Title; the name of the job if not given'),
  client: words.optional().describe('For whom the report is'),
  agency: words.optional().describe('Who sends it'),
  logo: file.optional().describe('PNG or SVG file, relative to the job file'),
  accent: scalar({ read: colour, json: { type: 'string' } })
    .optional()
    .describe('Colour of links, selected rows and the line at the top, for instance "#0a5"'),
  footer: words.optional().describe('Last line of the report'),
  period: scalar({ read: period, json: { type: 'string' } })
    .optional()
    .describe('28d, 7d, month, last-month, quarter, all or two days such as 2026-10-01..2026-10-31'),
  compare: scalar({ read: comparison, json: { type: 'string' } })
    .optional()
    .describe('previous-period, year, a day, or how long ago; the day before the period began if not given'),
  language: scalar(settings.oneOf(languages)).optional().describe('Language; en if not given'),
}).transform(
  (given): ReportSettings => ({
    title: given.title ?? null,
    client: given.client ?? null,
    agency: given.agency ?? null,
    logo: given.logo ?? null,
    accent: given.accent ?? null,
    footer: given.footer ?? null,
    period: given.period ?? null,
    compare: given.compare ?? null,
    language: given.language ?? null,
  }),
)

/** `views:` of a job file. */
export const viewsSchema = z.array(
  strict({
    name: words.describe('Name of the tab'),
    tags: list.describe('Only keywords with one of these tags'),
    targets: list.describe('Only these targets, by site or label'),
    kinds: list.describe('Only these kinds of results, such as organic or news'),
    where: condition.describe('Only keywords of which this is true, such as "volume>1000 and tag=money"'),
  }).transform(
    ({ name, tags = [], targets = [], kinds = [], where }): SavedView => ({
      name,
      tags,
      targets,
      kinds,
      ...(where === undefined ? {} : { where }),
    }),
  ),
)

const note = strict({
  date: scalar({ read: date, json: { type: 'string' } }).describe('The day, such as 2026-10-01'),
  text: words.describe('What happened'),
  url: scalar({ read: pageUrl, json: { type: 'string' } })
    .optional()
    .describe('Where to read more'),
  query: scalar(settings.queryText).optional().describe('The keyword that it is about; all if not given'),
}).transform(
  ({ date, text, url = null, query }): ReportNote =>
    query === undefined ? { date, text, url } : { date, text, url, query },
)

/** `notes:` of a job file. */
export const notesSchema = z.union(
  [
    z.array(note),
    strict({
      file: file.describe('CSV file with the columns date, text, url and query, relative to the job file'),
    }),
  ],
  { error: 'a list of notes or a map with file' },
)

/** Columns of a file of notes. */
const noteColumns = ['date', 'text', 'url', 'query'] as const

/** Reads a file of notes; every mistake is reported, and its row is left out. */
export async function readNotes(file: string, report: Report): Promise<readonly ReportNote[]> {
  const notes: ReportNote[] = []
  let columns: readonly string[] | null = null
  const { readCsv } = await import('./csv.ts')
  const batches = readCsv(file, () => {}, {
    score: (cells) => {
      const known = cells.filter((cell) => isNoteColumn(nameOf(cell))).length
      return { isHeader: ['date', 'text'].every((name) => cells.map(nameOf).includes(name)), weight: known }
    },
    mayBeList: false,
    textsAreMapped: false,
  })
  for await (const batch of batches)
    for (const item of batch) {
      const at = { where: file, line: 'head' in item ? item.head.line : item.line, column: null }
      if ('mistake' in item) report({ ...at, ...item.mistake })
      else if ('head' in item) {
        columns = item.head.cells.map(nameOf)
        const mistakes = headMistakes(columns)
        for (const mistake of mistakes) report({ ...at, ...mistake })
        if (mistakes.length > 0) return []
      } else if (columns !== null && item.cells.some((cell) => cell.trim() !== '')) {
        const cells = columns.map((name, place) => [name, item.cells[place]?.trim() ?? ''] as const)
        const given = cells.filter(([name, cell]) => cell !== '' || name === 'date' || name === 'text')
        if (item.cells.slice(columns.length).some((cell) => cell.trim() !== ''))
          report({ ...at, message: 'the row has more cells than the first line', fix: tooWide })
        const one = readValue(note, { tree: Object.fromEntries(given), at: () => at }, [], report)
        if (one !== undefined) notes.push(one)
      }
    }
  if (columns === null)
    report({
      where: file,
      line: null,
      column: null,
      message: 'the file is empty',
      fix: "write a first line with the columns 'date' and 'text'",
    })
  return notes
}

const tooWide = 'put a text with commas in quotes'

function nameOf(cell: string): string {
  return cell.trim().toLowerCase()
}

function isNoteColumn(name: string): boolean {
  return noteColumns.some((one) => one === name)
}

function headMistakes(names: readonly string[]): readonly InvalidValue[] {
  const unknown = names.filter((name) => name !== '' && !isNoteColumn(name))
  const twice = noteColumns.find((name) => names.filter((one) => one === name).length > 1)
  return [
    ...unknown.map((name) => {
      const near = closestMatch(
        name,
        noteColumns.filter((one) => !names.includes(one)),
      )
      const fix =
        near === null ? `name it ${noteColumns.join(', ')}, or take it out` : `write ${quoted(near)}`
      return { message: `a file of notes has no column ${quoted(name)}`, fix }
    }),
    ...(['date', 'text'] as const).flatMap((name) =>
      names.includes(name) || unknown.some((one) => closestMatch(one, noteColumns) === name)
        ? []
        : {
            message: `the column ${quoted(name)} is missing`,
            fix: 'write a first line such as date,text,url,query',
          },
    ),
    ...(twice === undefined
      ? []
      : [{ message: `the column ${quoted(twice)} is there twice`, fix: 'take one out' }]),
  ]
}

/**
 * Reports targets and kinds of results that views name and the job cannot have, and names that two views share: the second tab
 * could not be told from the first.
 *
 * @param targets sites and labels of the job's targets; null where queries may have others
 */
export function reportUnknownInViews(
  views: readonly SavedView[],
  targets: readonly string[] | null,
  at: Source['at'],
  report: Report,
): void {
  for (const [place, view] of views.entries()) {
    const path = ['views', place]
    const first = views.findIndex(({ name }) => name === view.name)
    if (first < place) {
      const message = `the name ${quoted(view.name)} is that of view ${first + 1}, too`
      report({ ...at([...path, 'name']), message, fix: 'give each view a name of its own' })
    }
    const check = (key: 'targets' | 'kinds', noun: string, known: readonly string[], where: string): void => {
      for (const [index, name] of view[key].entries()) {
        const mistake = unknownName(noun, name, known, where)
        if (mistake !== null) report({ ...at([...path, key, index]), ...mistake })
      }
    }
    if (targets !== null) check('targets', 'target', targets, 'in this job')
    check('kinds', 'kind', Object.keys(kindCodes), 'of results')
  }
}
