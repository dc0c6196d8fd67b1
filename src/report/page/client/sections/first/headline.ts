import type { FindingFacts } from '../../../../findings/facts.ts'
import { findings, linkOf } from '../../../../findings/find.ts'
import type { Finding, FindingLink } from '../../../../findings/finding.ts'
import { sentenceOf } from '../../../../findings/say.ts'
import type { FigureChoice } from '../../chart/trend.ts'
import type { SectionId } from '../../controls/address.ts'
import { button, html } from '../../dom.ts'
import type { Filters } from '../../filters.ts'
import { sectionLink } from '../../header.ts'
import { say } from '../../language.ts'
import { isolated } from '../../text.ts'
import type { View } from '../../view.ts'
import type { OpenKeyword } from '../keywords.ts'

/** What a sentence or a row can open. */
export interface Opening {
  readonly open: OpenKeyword
  /** Sets filters and goes to a section, in one step of the browser's history. */
  readonly choose: (change: Partial<Filters>, section?: SectionId) => void
  readonly goToSection: (section: SectionId) => void
  readonly chart: FigureChoice
}

/** The sentences above the figures; each opens what it speaks of. */
export function headlineList(
  view: View,
  facts: FindingFacts,
  { open, choose, goToSection }: Opening,
): HTMLElement {
  const items = findings(facts).map((finding) => html('li', kindOf(finding), opening(finding)))
  return html('ul', { class: 'headline', 'aria-label': say.overview.inShort }, ...items)

  function opening(finding: Finding): HTMLElement {
    const link = linkOf(finding)
    const text = sentenceOf(finding, say, isolated)
    if (link.to === 'section') return sectionLink(link.section, text, () => goToSection(link.section))
    return button('', () => follow(link), link.to === 'keyword' ? { 'aria-haspopup': 'dialog' } : {}, text)
  }

  function follow(link: FindingLink): void {
    if (link.to === 'tag') choose({ tags: [link.tag] })
    if (link.to === 'keyword') {
      const status = view.statuses.find(({ series }) => series.keyword === link.keyword)
      if (status !== undefined) open(status, view.statuses)
    }
    if (link.to === 'group') choose({ movement: link.group }, 'keywords')
  }
}

/** The first sentence is the largest; what figures do not include is the smallest. */
function kindOf({ kind }: Finding): string {
  const isLimit = ['not checked', 'added', 'partial days', 'other day'].includes(kind)
  return isLimit ? 'limit' : ''
}
