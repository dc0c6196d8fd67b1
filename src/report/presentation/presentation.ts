import type { Audience, Language, ReportNote, SavedView } from '../../model/settings.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'

/** How a report looks, and what people added to its figures. Plain JSON. */
export interface Presentation {
  readonly title: string | null
  readonly client: string | null
  readonly agency: string | null
  /** A `data:` address of the picture. */
  readonly logo: string | null
  /** The colour of the agency on light and on dark pages: same hue, as light or dark as it must be for text to be read. */
  readonly accent: { readonly light: string; readonly dark: string } | null
  readonly footer: string | null
  readonly language: Language
  readonly audience: Audience
  readonly views: readonly ReportView[]
  readonly notes: readonly ReportNote[]
  /** The words of the analyst as they were written, and as harmless HTML, see `commentOf`; null if there are none. */
  readonly comment: { readonly markdown: string; readonly html: string } | null
}

/** A saved view in a report. */
interface ReportView extends SavedView {
  /** Of each keyword whether its condition is true; missing where it has none. */
  readonly isTrue?: readonly (0 | 1)[]
}

/** Of a job that says nothing about its report. */
export const plainPresentation: Presentation = {
  title: null,
  client: null,
  agency: null,
  logo: null,
  accent: null,
  footer: null,
  language: 'en',
  audience: 'team',
  views: [],
  notes: [],
  comment: null,
}

/**
 * The notes about all keywords and those about one of these. Where there are other keywords, too, a note says which it is about.
 */
export function notesAbout(
  { notes }: Pick<Presentation, 'notes'>,
  keywords: readonly Pick<Keyword, 'query'>[],
): readonly ReportNote[] {
  const queries = new Set(keywords.map(({ query }) => query.toLowerCase()))
  return notes.flatMap((note) => {
    if (note.query === undefined) return note
    if (!queries.has(note.query.toLowerCase())) return []
    return queries.size === 1 ? note : { ...note, text: `${note.query}: ${note.text}` }
  })
}

/** The notes of the days of a period, or of the whole history, in their order. */
export function notesOfPeriod({
  presentation,
  history: { keywords, days },
  period,
}: {
  readonly presentation: Presentation
  readonly history: Pick<RankHistory, 'keywords' | 'days'>
  readonly period: { readonly from: string } | null
}): readonly ReportNote[] {
  const [from = '', until = ''] = [period?.from ?? days[0], days.at(-1)]
  return notesAbout(presentation, keywords)
    .filter(({ date }) => date >= from && date <= until)
    .toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
}

/** The saved view with a name; undefined for the tab of all keywords. */
export function savedView(
  { presentation }: { readonly presentation: Presentation },
  name: string,
): ReportView | undefined {
  return name === '' ? undefined : presentation.views.find((one) => one.name === name)
}

/** Whether a keyword has one of the tags and one of the kinds of results of a saved view, and its condition is true of it. */
export function isInView({ tags, kind }: Keyword, place: number, view: ReportView | undefined): boolean {
  const { tags: wanted = [], kinds = [], isTrue } = view ?? {}
  return (
    (wanted.length === 0 || tags.some((tag) => wanted.includes(tag))) &&
    (kinds.length === 0 || kinds.includes(kind)) &&
    isTrue?.[place] !== 0
  )
}

/** Whether a saved view has a tab: one that no keyword is in has none. */
export function hasTab(view: ReportView, { keywords }: RankHistory): boolean {
  return keywords.some((keyword, place) => isInView(keyword, place, view))
}

/** Places of the targets of a saved view, in the order in which it names them; all if it names none. */
export function targetsOfView({ targets }: RankHistory, view: ReportView | undefined): readonly number[] {
  const all = [...targets.keys()]
  const named = (view?.targets ?? []).flatMap((name) =>
    all.filter((place) => targets[place]?.label === name || targets[place]?.site === name),
  )
  return named.length === 0 ? all : [...new Set(named)]
}
