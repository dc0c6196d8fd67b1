import { pageAddress } from '../../../model/url.ts'
import { type SerpPair, serpPairs, volatility } from '../../../report/metrics/serps.ts'
import { discoverCompetitors, isGaining, type SiteShare, siteTrends } from '../../../report/metrics/shares.ts'
import { competitorsLine } from '../../competitors-line.ts'
import { trendLine } from '../chart/sparkline.ts'
import { copyText } from '../clipboard.ts'
import { ariaHidden, breakable, button, html, srOnly } from '../dom.ts'
import { number } from '../format.ts'
import { say } from '../language.ts'
import { figures, type SimpleColumn, simpleTable } from '../table/simple-table.ts'
import { metricText, withDelta } from '../text.ts'
import type { View } from '../view.ts'
import { empty, note } from './section.ts'

/** Sites in the list by share, and in that of sites that gain, at most. */
const [mostSites, mostGaining] = [10, 6]
/** A line needs as many days. */
const leastDays = 3

/** The sites with the largest share of the first ten results, and sites that gain and are not tracked, in steps. */
export function siteShares(view: View, place: HTMLElement): readonly (() => void)[] {
  const { history, data, compare } = view
  const options = { history, curve: data.measure.curve }
  let pairs: readonly SerpPair[] = []
  let shares: Shares | null = null
  return [
    () => {
      pairs = serpPairs(history, data.serps, compare)
      const isCompared = pairs.some(({ compared }) => compared !== null)
      // Without a day to compare with, shares are those of the last day.
      const counted = isCompared ? pairs : pairs.map((pair) => ({ ...pair, compared: pair.current }))
      shares = { ...discoverCompetitors(counted, options), isCompared }
    },
    () => {
      const trends = siteTrends(data.serps, { ...options, from: view.shown.start })
      place.append(
        shares === null || pairs.length === 0 ? empty(say.competitors.noSerps) : tables(view, shares, trends),
      )
    },
    () => {
      const turnover = shares?.isCompared ? turnoverNote(pairs, data.links) : null
      if (turnover !== null) place.append(turnover)
    },
  ]
}

interface Shares extends ReturnType<typeof discoverCompetitors> {
  /** Whether there is a day to compare with. */
  readonly isCompared: boolean
}

function tables(
  { history, data }: View,
  { sites, serps, weight, isCompared }: Shares,
  trends: ReturnType<typeof siteTrends>,
): HTMLElement {
  const words = say.competitors
  // Clients have no job file.
  const canAdd = data.presentation.audience === 'team'
  const line = jobLine()
  const byShare = sites
    .toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.appearances - a.appearances)
    .slice(0, mostSites)
  const gaining = sites
    .filter((one) => one.targets.length === 0 && !byShare.includes(one) && isGaining(one))
    .slice(0, mostGaining)
  const nameOf = ({ site }: SiteShare): string => data.sites[site] as string
  const columns: readonly SimpleColumn<SiteShare>[] = [
    {
      title: words.site,
      cell: (one) => html('span', 'site-name', breakable(nameOf(one)), ' ', badge(one)),
    },
    figures(words.share, ({ share, change }) =>
      withDelta('site_share', share, isCompared ? change : null, 'unknown'),
    ),
    ...(trends.days.length < leastDays
      ? []
      : [
          {
            title: words.trendOf(trends.days.length),
            class: 'spark-cell',
            cell: ({ site }: SiteShare) => trendLine(trends.sharesOf(site), false),
          },
        ]),
    figures(words.inTopTen, ({ appearances }) => number(appearances), ' wide'),
    ...(canAdd
      ? [
          {
            title: words.track,
            class: 'action',
            cell: (one: SiteShare) => (one.targets.length > 0 ? null : line.button(nameOf(one))),
          },
        ]
      : []),
  ]
  const by = weight === 'volume' ? words.byVolume : words.sameWeight
  return html(
    'div',
    'site-shares',
    simpleTable(words.sites, byShare, columns),
    gaining.length === 0 ? null : html('h4', '', words.gaining),
    gaining.length === 0 ? null : simpleTable(words.gaining, gaining, columns),
    line.element,
    note(
      [
        isCompared ? words.basisBoth(serps, by) : words.basis(serps, by),
        ...([...byShare, ...gaining].some(({ targets }) => targets.length > 0) ? [words.wholeSites] : []),
      ].join(' '),
    ),
  )

  function badge({ targets }: SiteShare): HTMLElement | null {
    const [first] = targets
    if (first === undefined) return null
    const isOwn = targets.some((target) => history.targets[target]?.own)
    return html('span', 'badge', isOwn ? words.own : words.competitor)
  }
}

/** How many of the pages in the top 10 changed. */
function turnoverNote(pairs: readonly SerpPair[], links: readonly string[]): HTMLElement | null {
  const { value, numerator, denominator } = volatility(pairs, (link) => pageAddress(links[link] as string))
  if (value === null) return null
  return note(say.competitors.turnover(metricText('turnover', value), numerator, denominator))
}

/** Buttons that put sites on a line for the job file, and the line. */
function jobLine() {
  const words = say.competitors
  const code = html('code', 'code')
  const said = html('span', { class: 'about', role: 'status' })
  const again = button('quiet', copy, {}, words.copyAgain)
  const element = html(
    'div',
    { class: 'job-line', hidden: true },
    html('p', '', words.jobLine),
    html('p', '', code, ' ', again, ' ', said),
    note(words.jobLineNote),
  )
  const sites: string[] = []
  return {
    element,
    button: (site: string): HTMLElement => {
      const label = new Text(words.add)
      const add = button(
        'quiet add-site',
        () => {
          if (!sites.includes(site)) sites.push(site)
          code.textContent = competitorsLine(sites)
          element.hidden = false
          label.data = words.added
          copy()
        },
        {},
        html('span', 'add-full', label),
        ariaHidden('+', 'add-short'),
        srOnly(`: ${site}`),
      )
      return add
    },
  }

  function copy(): void {
    void copyText(competitorsLine(sites)).then((isCopied) => {
      said.textContent = isCopied ? words.copied : words.notCopied
    })
  }
}
