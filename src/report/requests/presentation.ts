import { readFile } from 'node:fs/promises'
import { type ConditionQuery, conditionOf } from '../../model/condition.ts'
import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { Audience } from '../../model/settings.ts'
import { badCharacters } from '../../model/values.ts'
import { sanitize } from '../../output/terminal.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { accentOf } from '../presentation/accent.ts'
import { logoAddress } from '../presentation/logo.ts'
import type { Comment, Presentation } from '../presentation/presentation.ts'

/** What a job says of its report. */
export type PresentationSettings = Pick<JobSettings, 'report' | 'views' | 'notes'>

/** What the file of a job says of its report; what its newest run says where the job is named without its file. */
export async function presentationSettings(
  store: Pick<Store, 'latestRun'>,
  job: string,
  file: JobSettings | null,
): Promise<PresentationSettings> {
  return file ?? (await store.latestRun(job))?.settings ?? { report: null, views: null, notes: null }
}

/** How the report of a job looks. Reads the logo and the comment; throws a sentence where one cannot be used. */
export async function presentationOf(
  { report, views, notes }: PresentationSettings,
  {
    audience = 'team',
    comment,
  }: {
    readonly audience?: Audience
    /** A Markdown file. */
    readonly comment?: string | undefined
  } = {},
): Promise<Presentation> {
  const { title = null, client = null, agency = null, footer = null } = report ?? {}
  const { logo = null, accent = null, language = null } = report ?? {}
  return {
    title,
    client,
    agency,
    footer,
    audience,
    logo: logo === null ? null : await readLogo(logo),
    accent: accent === null ? null : accentOf(accent),
    language: language ?? 'en',
    views: views ?? [],
    notes: notes ?? [],
    comment: comment === undefined ? null : await readComment(comment),
  }
}

/** With the keywords of each saved view that has a condition. */
export function withKeywordsOfViews(
  presentation: Presentation,
  history: RankHistory | undefined,
): Presentation {
  if (history === undefined) return presentation
  const views = presentation.views.map((view) => {
    if (view.where === undefined) return view
    const { isMet } = conditionOf(`The view '${view.name}'`, view.where, 'store')
    return { ...view, isTrue: history.keywords.map((keyword) => (isMet(asQuery(keyword)) ? 1 : 0)) }
  })
  return { ...presentation, views }
}

/** A keyword as conditions read it. */
export function asQuery({ query, ...keyword }: Keyword): ConditionQuery {
  return { ...keyword, text: query }
}

async function readLogo(file: string): Promise<string> {
  const bytes = await contentOf(file, 'logo', 'Check logo: under report: in the job file or in rankline.yaml')
  const read = logoAddress(bytes)
  if ('value' in read) return read.value
  throw new UsageError(`The logo ${sanitize(file)} ${sanitize(read.message)}; ${read.fix}`)
}

/** An analyst's letter is shorter. */
const mostCommentBytes = 50_000

async function readComment(file: string): Promise<Comment | null> {
  const bytes = await contentOf(file, 'comment', 'Check the path given to --comment')
  const refuse = (message: string, fix: string): never => {
    throw new UsageError(`The comment ${sanitize(file)} ${message}; ${fix}`)
  }
  if (bytes.length > mostCommentBytes) refuse('is over 50 kB', 'shorten it, or link to the rest')
  // Windows editors write lines and a mark of their own.
  const text = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
  const mistake = badCharacters(text, true)
  if (mistake !== null) refuse('is not Markdown in UTF-8', 'save it as plain text in UTF-8')
  if (text.trim() === '') return null
  const { commentOf, isTooDeep, looksTooDeep } = await import('../presentation/comment.ts')
  const refuseDepth = () => refuse('nests more than 50 lists or quotes in each other', 'make it flatter')
  if (looksTooDeep(text)) refuseDepth()
  const comment = commentOf(text.trim())
  return isTooDeep(comment) ? refuseDepth() : comment
}

async function contentOf(file: string, what: string, fix: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new UsageError(`The ${what} ${sanitize(file)} cannot be read. ${fix}`, { cause: error })
  }
}
