import type { FinishReason } from '../../src/model/run.ts'
import type { AlertKind } from '../../src/model/settings/alert.ts'

/** How a run ended, at an instant at which its rules are asked. */
export interface RunEnd {
  readonly job: string
  /** Epoch ms. */
  readonly at: number
  readonly reason: FinishReason
  readonly planned: number
  /** What was answered: ranks among the first ten by query, null where it is not there. */
  readonly ranks: ReadonlyMap<string, number | null>
  /** Credits left after all that ran at this instant. */
  readonly balance: number
}

/** An alert that begins or is over, as it is to be told. */
export interface ExpectedNews {
  readonly at: number
  readonly job: string
  readonly when: AlertKind
  readonly state: 'open' | 'over'
  readonly query: string | null
}

/** The rules that are asked, as a job file has them. */
export const alertRules = (balanceBelow: number): string => `
    - { when: run-failed }
    - { when: run-skipped }
    - { when: coverage, below: 95 }
    - { when: balance, below: ${balanceBelow} }
    - { when: drop, by: 3 }
    - { when: gain, by: 3, top: 5 }
    - { when: left, top: 5, confirm: 2 }
    - { when: lost }`

type Rank = number | null

/** Ranks of a query, the newest last: whether a rule begins, and whether it is over for a rank before it began. */
interface RankRule {
  readonly begins: (ranks: readonly Rank[]) => boolean
  readonly isOver: (now: Rank, reference: Rank) => boolean
}

/** An absence counts as the first rank that was not looked at. */
const placed = (rank: Rank): number => rank ?? 11
const isTop5 = (rank: Rank): boolean => rank !== null && rank <= 5

// By docs/alerts.md, for looks that are all ten results deep.
const rankRules: Readonly<Partial<Record<AlertKind, RankRule>>> = {
  drop: {
    begins: (ranks) => {
      const [before = null, now = null] = ranks.slice(-2)
      return before !== null && placed(now) - before >= 3
    },
    isOver: (now, reference) => now !== null && now - placed(reference) < 3,
  },
  gain: {
    begins: (ranks) => {
      const [before = null, now = null] = ranks.slice(-2)
      return now !== null && now <= 5 && placed(before) - now >= 3
    },
    isOver: (now, reference) => (reference === null ? now === null : reference - placed(now) < 3),
  },
  left: {
    begins: (ranks) => {
      const said = ranks.map((rank) => (isTop5(rank) ? 'i' : 'o')).join('')
      return said.endsWith('ioo') || said.endsWith('ioio')
    },
    isOver: (now) => isTop5(now),
  },
  lost: {
    // From rank 10 it may be one rank: then two observations must say it.
    begins: (ranks) => {
      const [before = null, now = null] = ranks.slice(-2)
      if (before !== null && before < 10 && now === null) return true
      const said = ranks.map((rank) => (rank === null ? 'o' : 'i')).join('')
      return said.endsWith('ioo') || said.endsWith('ioio')
    },
    isOver: (now) => now !== null,
  },
}

/** What is to be told of the ends of runs, in their order, each once when it begins and once when it is over. */
export function expectedAlerts(ends: readonly RunEnd[], balanceBelow: number): readonly ExpectedNews[] {
  const news: ExpectedNews[] = []
  const open = new Map<string, Rank>()
  const seen = new Map<string, Rank[]>()
  const put = (
    end: Pick<RunEnd, 'at' | 'job'>,
    when: AlertKind,
    query: string | null,
    verdict: boolean | null,
    reference: Rank = null,
  ) => {
    const key = JSON.stringify([end.job, when, query])
    if (verdict === null || verdict === open.has(key)) return
    if (verdict) open.set(key, reference)
    else open.delete(key)
    news.push({ at: end.at, job: end.job, when, state: verdict ? 'open' : 'over', query })
  }
  const judgeRanks = (at: number, { job, ranks }: RunEnd): void => {
    for (const [query, now] of ranks) {
      const looks = [...(seen.get(query) ?? []), now]
      seen.set(query, looks)
      if (looks.length < 2) continue
      for (const [name, rule] of Object.entries(rankRules)) {
        const when = name as AlertKind
        const reference = open.get(JSON.stringify([job, when, query]))
        if (reference !== undefined) {
          if (rule.isOver(now, reference)) put({ at, job }, when, query, false)
        } else if (rule.begins(looks)) put({ at, job }, when, query, true, looks.at(-2) ?? null)
      }
    }
  }
  // The ranks of a run that stopped are judged when the next one has taken its place.
  const stopped = new Map<string, RunEnd>()
  for (const end of ends) {
    const { job, at, reason, planned, ranks, balance } = end
    const before = stopped.get(job)
    stopped.delete(job)
    if (before !== undefined) judgeRanks(at, before)
    put(end, 'run-failed', null, reason !== 'completed')
    put(end, 'run-skipped', null, reason === 'auth' && ranks.size === 0)
    put(end, 'coverage', null, ranks.size / planned < 0.95)
    put(end, 'balance', null, balance < balanceBelow)
    if (reason === 'completed') judgeRanks(at, end)
    else stopped.set(job, end)
  }
  return news
}
