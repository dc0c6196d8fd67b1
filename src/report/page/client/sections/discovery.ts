import { discoverCompetitors, type SiteShare } from '../../../metrics/discovery.ts'
import { pagesOf } from '../../../metrics/page-of.ts'
import { type SerpPair, serpPairs } from '../../../metrics/serps.ts'
import { volatility } from '../../../metrics/volatility.ts'
import { breakable, h } from '../dom.ts'
import { count, number } from '../format.ts'
import { deltaMark, metricText } from '../metric-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { empty } from './section.ts'

/** Sites in the list at most. */
const mostSites = 15

/** Who else is among the first ten results, and who of them gains. */
export function discovery(view: View): HTMLElement {
  const { history, data, asked } = view
  const pairs = serpPairs(history, data.serps, asked)
  const { sites, serps, weight } = discoverCompetitors(pairs, { history, curve: data.measure.curve })
  const others = sites.filter(({ targets }) => targets.length === 0)
  if (others.length === 0) return empty('There are no results of two days to compare.')
  const shown = others
    .toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.appearances - a.appearances)
    .slice(0, mostSites)
  const columns: readonly Column<SiteShare>[] = [
    { key: 'site', title: 'Site', cell: ({ site }) => breakable(data.sites[site] as string) },
    {
      key: 'share',
      title: 'Share',
      class: 'figure',
      cell: ({ share, change }) =>
        h('span', { class: 'with-delta' }, metricText('site_share', share), deltaMark('site_share', change)),
    },
    { key: 'now', title: 'In first tens', class: 'figure', cell: ({ appearances }) => number(appearances) },
    {
      key: 'before',
      title: 'Before',
      class: 'figure wide',
      cell: ({ appearancesBefore }) => number(appearancesBefore),
    },
  ]
  const weighed = weight === 'volume' ? 'weighed by volume' : 'all keywords weigh the same'
  return h(
    'div',
    {},
    simpleTable('Sites that are not tracked', columns, shown),
    turnoverNote(view, pairs),
    h(
      'p',
      { class: 'note' },
      `Of ${count(serps, 'keyword')} whose first ten results are known on both days, ${weighed}.`,
    ),
  )
}

/** How much of the first ten changed, whoever it was. */
function turnoverNote({ data }: View, pairs: readonly SerpPair[]): HTMLElement | null {
  const { value, numerator, denominator, compared } = volatility(pairs, pagesOf(data.links))
  if (value === null) return null
  return h(
    'p',
    { class: 'note' },
    `${metricText('turnover', value)} of the pages among the first ten were not there on the compared day: ${number(numerator)} of ${number(denominator)}, for ${count(compared, 'keyword')}.`,
  )
}
