import type { Row } from '../../src/model/result.ts'
import type { WholeReport } from '../../src/report/build-data.ts'
import { defaultCurve } from '../../src/report/ctr.ts'
import { plainPresentation } from '../../src/report/presentation/presentation.ts'
import { absent, aRanking, unknown } from './build.ts'
import { reportOn } from './reporting.ts'

/** The whole report on rows of the `rankings` view. */
export function wholeReport(rankings: readonly Row[], more: Partial<WholeReport> = {}): WholeReport {
  const { built, ...report } = reportOn(rankings)
  return {
    report,
    history: built.history,
    period: null,
    compare: null,
    measure: { curve: defaultCurve },
    presentation: plainPresentation,
    runs: [],
    citations: [],
    ...{ features: [], serps: [], texts: [], links: [], sites: [] },
    requestedPeriod: { period: null, compare: null },
    ...more,
  }
}

const own = { params: '{"gl":"us"}', gl: 'us', tags: 'head', volume: 1000 }
const rival = { ...own, target: 'Rival', target_site: 'rival.example', own: 0, url: 'https://rival.example/' }
const lamp = {
  query: 'lamp',
  params: '{"gl":"us"}',
  gl: 'us',
  tags: null,
  volume: null,
  url: 'https://acme.com/lamp',
}
const looked = { ...absent, depth: 30 }
const [before, now] = ['2026-03-01', '2026-03-02']

/** Two days, two queries, a competitor: something of everything. */
export const smallRankings: readonly Row[] = [
  aRanking({ ...own, date: before, rank: 4 }),
  aRanking({ ...rival, date: before, rank: 2 }),
  aRanking({ ...lamp, date: before, rank: 3 }),
  aRanking({ ...own, date: now, rank: 1 }),
  aRanking({ ...rival, ...looked, date: now }),
  aRanking({ ...lamp, date: now, rank: 12, exactness: 'estimated', volume: null }),
  aRanking({ query: 'sofa', ...unknown, params: '{"gl":"us"}', gl: 'us', date: now }),
]

export const aRun = {
  run: 2,
  date: now,
  finishReason: 'completed_with_failures',
  tasks: { planned: 1200, done: 1199, failed: 1 },
  spent: 1199,
  ambiguous: 1,
} as const
