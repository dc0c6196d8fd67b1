import { grouped } from '../../../model/text.ts'
import { shortUrl } from '../../cells.ts'
import type { Conclusions } from '../../findings/conclusions.ts'
import type { NextAction } from '../../findings/next-actions/action.ts'
import { reasonsOf } from '../../findings/next-actions/say.ts'
import { sentenceOf } from '../../findings/say.ts'
import type { RankHistory } from '../../history/rank-history.ts'
import { wordsOf } from '../../words/words.ts'
import { keywordColumns } from './sections.ts'
import { type MdColumn, mdLink, mdTable, mdText, toTheRight } from './text.ts'

/** How things stand, in sentences; for each own target. */
export function findingsSection(all: readonly Conclusions[]): readonly string[] {
  const say = wordsOf('en')
  return all.flatMap(({ target, findings }) => [
    ...(all.length > 1 ? [`**${mdText(target?.label ?? '')}**`] : []),
    findings.map((one) => `- ${sentenceOf(one, say, mdText)}`).join('\n'),
  ])
}

/** What to do next, the most clicks at stake first; for each own target. */
export function nextActionsSection(all: readonly Conclusions[], history: RankHistory): readonly string[] {
  const say = wordsOf('en')
  const { title, reason, clicks, page } = say.nextActions
  const columns: readonly MdColumn<NextAction>[] = [
    ...keywordColumns<NextAction>(history, ({ status }) => status.keyword),
    { title: reason.toLowerCase(), cell: (action) => reasonsOf(action, say, mdText) },
    toTheRight(clicks.toLowerCase(), (action) =>
      action.clicks === null ? '-' : grouped(Math.round(action.clicks)),
    ),
    {
      title: page.toLowerCase(),
      cell: (action) => (action.page === null ? '' : mdLink(shortUrl(action.page), action.page)),
    },
  ]
  return all.flatMap(({ target, actions }) => {
    if (actions.length === 0) return []
    const whose = all.length > 1 ? `, ${mdText(target?.label ?? '')}` : ''
    return [`## ${title}${whose}`, mdTable(columns, actions)]
  })
}
