import type { FinishReason } from '../../src/model/run.ts'
import type { AlertKind } from '../../src/model/settings.ts'

/** How a run ended, at an instant at which its rules are asked. */
export interface RunEnd {
  readonly job: string
  /** Epoch ms. */
  readonly at: number
  readonly reason: FinishReason
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
  /** Jobs that a message names which is about a cause of several. */
  readonly jobs?: readonly string[]
}

/**
 * The rules that are asked, as a job file has them.
 *
 * @param failed which rule tells of runs that stopped
 */
export const alertRules = (balanceBelow: number, failed: 'run-failed' | 'coverage'): string => `
    - { when: ${failed}${failed === 'coverage' ? ', below: 95' : ''} }
    - { when: run-skipped }
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

/** What stops several jobs: told when the first of them is stopped, and when none is any more. */
interface Cause {
  readonly when: AlertKind
  /** All jobs that it stopped, and which still are. */
  readonly stopped: Map<string, boolean>
}

/** What is to be told of the ends of runs, in their order, each once when it begins and once when it is over. */
export function expectedAlerts(
  ends: readonly RunEnd[],
  { balanceBelow, toldBy }: { balanceBelow: number; toldBy: (job: string) => 'run-failed' | 'coverage' },
): readonly ExpectedNews[] {
  const news: ExpectedNews[] = []
  const open = new Map<string, Rank>()
  const seen = new Map<string, Rank[]>()
  const causes = new Map<string, Cause>()
  const judgeRanks = (at: number, { job, ranks }: RunEnd): void => {
    for (const [query, now] of ranks) {
      const looks = [...(seen.get(query) ?? []), now]
      seen.set(query, looks)
      if (looks.length < 2) continue
      for (const [name, rule] of Object.entries(rankRules)) {
        const when = name as AlertKind
        const key = JSON.stringify([when, query])
        const reference = open.get(key)
        if (reference === undefined && rule.begins(looks)) {
          open.set(key, looks.at(-2) ?? null)
          news.push({ at, job, when, state: 'open', query })
        } else if (reference !== undefined && rule.isOver(now, reference)) {
          open.delete(key)
          news.push({ at, job, when, state: 'over', query })
        }
      }
    }
  }
  /** Says of a cause that it stops a job, or not. */
  const say = ({ at, job }: RunEnd, name: string, when: AlertKind, isStopped: boolean): void => {
    const cause = causes.get(name)
    if (isStopped && cause === undefined) {
      causes.set(name, { when, stopped: new Map([[job, true]]) })
      news.push({ at, job, when, state: 'open', query: null, jobs: [job] })
    } else if (isStopped) cause?.stopped.set(job, true)
    else if (cause !== undefined) {
      if (cause.stopped.has(job)) cause.stopped.set(job, false)
      // What is said of the account is over for all.
      if (name !== 'account' && [...cause.stopped.values()].includes(true)) return
      causes.delete(name)
      const jobs = [...cause.stopped.keys()].sort()
      news.push({ at, job: jobs[0] as string, when: cause.when, state: 'over', query: null, jobs })
    }
  }
  // The ranks of a run that stopped are judged when the next one has taken its place.
  const stopped = new Map<string, RunEnd>()
  for (const end of ends) {
    const { job, at, reason, balance } = end
    const before = stopped.get(job)
    stopped.delete(job)
    if (before !== undefined) judgeRanks(at, before)
    for (const cause of ['auth', 'balance', 'unavailable']) say(end, cause, toldBy(job), reason === cause)
    say(end, 'account', 'balance', balance < balanceBelow)
    if (reason === 'completed') judgeRanks(at, end)
    else stopped.set(job, end)
  }
  return news
}
