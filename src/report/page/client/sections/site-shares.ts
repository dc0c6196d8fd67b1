import { pagesOf, type SerpPair, serpPairs } from '../../../metrics/serps.ts'
import { discoverCompetitors } from '../../../metrics/site-shares.ts'
import { volatility } from '../../../metrics/turnover.ts'
import { breakable, html } from '../dom.ts'
import { count, number } from '../format.ts'
import { figures, simpleTable } from '../table/simple-table.ts'
import { metricText, withDelta } from '../text.ts'
import type { View } from '../view.ts'
import { empty, note } from './section.ts'

/** Sites in the list at most. */
const mostSites = 15

/** Sites among the first ten results that are not tracked, with their gains. */
export function discovery({ history, data, asked }: View): HTMLElement {
  const pairs = serpPairs(history, data.serps, asked)
  const { sites, serps, weight } = discoverCompetitors(pairs, { history, curve: data.measure.curve })
  const others = sites.filter(({ targets }) => targets.length === 0)
  if (others.length === 0) return empty('There are no results of two days to compare.')
  const shown = others
    .toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.appearances - a.appearances)
    .slice(0, mostSites)
  const weights = weight === 'volume' ? 'weighted by volume' : 'all with the same weight'
  return html(
    'div',
    '',
    simpleTable('Sites that are not tracked', shown, [
      { title: 'Site', cell: ({ site }) => breakable(data.sites[site] as string) },
      figures('Share', ({ share, change }) => withDelta('site_share', share, change)),
      figures('In top 10', ({ appearances }) => number(appearances)),
      figures('Before', ({ appearancesBefore }) => number(appearancesBefore), ' wide'),
    ]),
    turnoverNote(pairs, data.links),
    note(`Of ${count(serps, 'keyword')} whose top 10 is known on both days, ${weights}.`),
  )
}

/** How many of the pages in the top 10 changed. */
function turnoverNote(pairs: readonly SerpPair[], links: readonly string[]): HTMLElement | null {
  const { value, numerator, denominator, compared } = volatility(pairs, pagesOf(links))
  if (value === null) return null
  const part = `${number(numerator)} of ${number(denominator)}, for ${count(compared, 'keyword')}`
  return note(
    `${metricText('turnover', value)} of the pages in the top 10 were not there on the compared day: ${part}.`,
  )
}
