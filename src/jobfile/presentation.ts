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
import { pageUrl, plainText, quoted, type ReadResult } from '../model/values.ts'
import { unknownName } from './alerts.ts'
import { scalar, strict } from './issues.ts'
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
  }).transform(
    ({ name, tags = [], targets = [], kinds = [] }): SavedView => ({ name, tags, targets, kinds }),
  ),
)

/** `notes:` of a job file. */
export const notesSchema = z.array(
  strict({
    date: scalar({ read: date, json: { type: 'string' } }).describe('The day, such as 2026-10-01'),
    text: words.describe('What happened'),
    url: scalar({ read: pageUrl, json: { type: 'string' } })
      .optional()
      .describe('Where to read more'),
  }).transform(({ date: day, text, url }): ReportNote => ({ date: day, text, url: url ?? null })),
)

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
