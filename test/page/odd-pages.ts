import type { PageData } from '../../src/report/data.ts'
import { absentCell, type RankSeries } from '../../src/report/history/rank-history.ts'
import { samplePage } from './sample-page.ts'

/** Texts that mean harm, or are only hard to show. */
export const hostileTexts = [
  '<script>window.harmed = true</script>',
  '</script><script>window.harmed = true</script>',
  '<img src=x onerror="window.harmed = true">',
  '"><svg onload=window.harmed=true>',
  "' onmouseover='window.harmed=true' style='position:fixed;inset:0",
  '<!-- <script>',
  '=cmd()|"/c calc"!A1',
  'javascript:window.harmed=true',
  '{{constructor.constructor("window.harmed=true")()}}',
  `right \u202eot left\u202c and \u2066isolated\u2069`,
  'line \u2028 and \u2029 ends \u0000 and \u001b[31m',
  '🪑'.repeat(40),
  'KeywordStatus '.repeat(223),
  'W'.repeat(2000),
  '\ud800 half a pair',
  '__proto__',
]

export const hostileLinks = [
  'javascript:window.harmed=true',
  'data:text/html,<script>window.harmed=true</script>',
  ' javascript:window.harmed=true',
  'https://rival.example/"><script>window.harmed=true</script>',
  'http://acme.example:99999/not-a-link',
  `https://acme.example/${'long-'.repeat(200)}`,
]

/** A page on which everything that comes from elsewhere is hostile. */
export function hostilePage(): PageData {
  const page = samplePage({ keywords: hostileTexts.length * 2, days: 20, seed: 5 })
  const text = (place: number): string => hostileTexts[place % hostileTexts.length] as string
  const link = (place: number): string => hostileLinks[place % hostileLinks.length] as string
  const { history } = page
  return {
    ...page,
    texts: page.texts.map((_, place) => text(place)),
    sites: page.sites.map((_, place) => text(place)),
    links: page.links.map((_, place) => link(place)),
    history: {
      ...history,
      job: text(1),
      keywords: history.keywords.map((keyword, place) => ({
        ...keyword,
        query: text(place),
        operation: place % 7 === 3 ? text(3) : keyword.operation,
        tags: [text(place + 1)],
        labels: { [text(2)]: text(place + 2) },
        params: { ...keyword.params, location: text(place + 3) },
        url: place % 2 === 0 ? link(place) : null,
      })),
      targets: history.targets.map((target, place) => ({ ...target, label: text(place), site: text(place) })),
      links: history.links.map((_, place) => link(place)),
    },
    measure: { curve: { ...page.measure.curve, name: text(0), source: text(2) } },
  }
}

/** A job that ran once: nothing to compare with, no volumes, no competitors, no results at hand. */
export function firstDayPage(): PageData {
  const page = samplePage({ keywords: 4, days: 1, seed: 2 })
  const { history } = page
  return {
    ...page,
    serps: [],
    citations: [],
    history: {
      ...history,
      keywords: history.keywords.map((keyword) => ({
        ...keyword,
        volume: null,
        url: null,
        tags: [],
        labels: {},
      })),
      targets: history.targets.slice(0, 1),
      series: history.series.filter(({ target }) => target === 0),
      removed: [],
    },
  }
}

/** Nothing ranks on any day. */
export function nothingRanksPage(): PageData {
  return withSeries(samplePage({ keywords: 20, days: 20, targets: 2 }), (series) => ({
    ...series,
    cells: series.cells.map((cell) => cell && absentCell(30, false)),
    places: {},
    links: [],
  }))
}

/** Ranks without the pages that have them. */
export function linklessPage(): PageData {
  const page = samplePage({ keywords: 20, days: 20, targets: 1 })
  return withSeries(page, (series) => ({ ...series, places: {}, links: [] }))
}

function withSeries(page: PageData, change: (series: RankSeries) => RankSeries): PageData {
  return { ...page, history: { ...page.history, series: page.history.series.map(change) } }
}

/** A job that tracks no target: only its runs are there to be told. */
export function targetlessPage(): PageData {
  const page = firstDayPage()
  return { ...page, history: { ...page.history, targets: [], series: [] } }
}

/** A job that has not run. */
export function emptyPage(): PageData {
  const page = targetlessPage()
  return { ...page, runs: [], history: { ...page.history, days: [], keywords: [] } }
}
