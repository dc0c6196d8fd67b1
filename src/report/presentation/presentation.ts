import type { Audience, Language, ReportNote, SavedView } from '../../model/settings/presentation.ts'
import type { Accent } from './accent.ts'

/** How a report looks, and what people added to its figures. Plain JSON. */
export interface Presentation {
  readonly title: string | null
  readonly client: string | null
  readonly agency: string | null
  /** A `data:` address of the picture. */
  readonly logo: string | null
  readonly accent: Accent | null
  readonly footer: string | null
  readonly language: Language
  readonly audience: Audience
  readonly views: readonly SavedView[]
  readonly notes: readonly ReportNote[]
  /** The words of the analyst; null if there are none. */
  readonly comment: Comment | null
}

export interface Comment {
  /** As it was written. */
  readonly markdown: string
  /** Harmless HTML, see `commentOf`. */
  readonly html: string
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
