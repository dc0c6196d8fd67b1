import { count } from '../../words.ts'
import { cannibalisation } from '../metrics/cannibalisation.ts'
import { type LandingPage, landingPages } from '../metrics/landing-page.ts'
import { shortUrl, valueRank } from '../rank-cells.ts'
import type { Keyword, RankHistory } from '../rank-history.ts'
import type { WholeReport } from '../whole-report.ts'
import { mdLink, mdText } from './escape.ts'
import { keywordColumns } from './lists.ts'
import { type MdColumn, mdTable } from './table.ts'

/** Keywords that a section lists. */
const most = 20

/** Keywords for which pages of one own target compete with each other. */
export function cannibalSection(history: RankHistory): readonly string[] {
  const all = cannibalisation(history).filter(({ target }) => history.targets[target]?.own === true)
  if (all.length === 0) return []
  const shown = all.slice(0, most)
  const columns: readonly MdColumn<(typeof all)[number]>[] = [
    ...keywordColumns<(typeof all)[number]>(history, ({ keyword }) => history.keywords[keyword] as Keyword),
    { title: 'target', cell: ({ target }) => mdText(history.targets[target]?.label ?? '') },
    { title: 'flips', align: 'right', cell: ({ flips }) => String(flips) },
    { title: 'days together', align: 'right', cell: ({ together }) => String(together.length) },
    {
      title: 'pages, and the days on which they ranked',
      cell: ({ pages }) => pages.map(pageText).join('<br>'),
    },
  ]
  const pageText = ({ link, days }: (typeof all)[number]['pages'][number]): string => {
    const url = history.links[link] as string
    return `${mdLink(shortUrl(url), url)} (${count(days.length, 'day')})`
  }
  return ['## Pages that compete with each other', mdTable(columns, shown), ...more(all.length)]
}

function more(all: number): readonly string[] {
  return all > most ? [`And ${count(all - most, 'more keyword')}.`] : []
}

/** Keywords of own targets for which another page ranks than the one that the job intends. */
export function landingSection({ history, report }: WholeReport): readonly string[] {
  const isOwn = ({ standing }: LandingPage) => history.targets[standing.series.target]?.own === true
  const wrong = landingPages(report.standings, history).filter(
    (page) => page.state === 'wrong page' && isOwn(page),
  )
  if (wrong.length === 0) return []
  const columns: readonly MdColumn<LandingPage>[] = [
    ...keywordColumns<LandingPage>(history, ({ standing }) => standing.keyword),
    { title: 'target', cell: ({ standing }) => mdText(history.targets[standing.series.target]?.label ?? '') },
    { title: 'rank', align: 'right', cell: ({ standing }) => valueRank(standing.current) },
    { title: 'page that ranks', cell: ({ link }) => pageLink(link) },
    { title: 'intended page', cell: ({ standing }) => pageLink(standing.keyword.url) },
    { title: 'its rank', align: 'right', cell: ({ intendedRank }) => String(intendedRank ?? '') },
  ]
  return ['## Other pages than intended', mdTable(columns, wrong.slice(0, most)), ...more(wrong.length)]
}

function pageLink(link: string | null): string {
  return link === null ? '' : mdLink(shortUrl(link), link)
}
