import { groupedBy } from '../../model/groups.ts'
import { count, firstNames, grouped, size } from '../../model/text.ts'
import { dayMs } from '../../model/time.ts'
import type { BrokenShared, DatabaseFacts, MessageFacts, MoneyFacts, StatusFacts } from './facts.ts'
import { jobProblems } from './judge-job.ts'
import { type Level, levels, type StatusProblem } from './problem.ts'

/** Everything that is wrong, the worst first; of the same level, what concerns all jobs stands before single ones. */
export function problemsOf({
  jobs,
  money,
  messages,
  database,
  brokenShared,
  now,
}: StatusFacts): readonly StatusProblem[] {
  if (database.isMissing) return []
  const all = [
    ...databaseProblems(database),
    ...brokenShared.map(sharedProblem),
    ...moneyProblems(money, now),
    ...messageProblems(messages),
    ...jobs.flatMap((job) => jobProblems(job, now)),
  ]
  return levels.flatMap((level) => all.filter((one) => one.level === level))
}

/** The same problems, but one for each cause that stops several jobs. That they are late is said with it. */
export function oncePerCause(problems: readonly StatusProblem[]): readonly StatusProblem[] {
  const caused = problems.filter(({ cause }) => cause !== undefined)
  const groups = [...groupedBy(caused, ({ kind, cause }) => `${kind} ${cause?.what}`).values()]
  const shared = groups.filter(({ length }) => length > 1)
  const stopped = new Set(shared.flat().map(({ job }) => job))
  const members = new Set(shared.flat())
  const said = new Map(shared.map((group) => [group[0], causeProblem(group)]))
  return problems.flatMap((one) => {
    const together = said.get(one)
    if (together !== undefined) return [together]
    return members.has(one) || (one.kind === 'stale' && stopped.has(one.job)) ? [] : [one]
  })
}

function causeProblem(group: readonly StatusProblem[]): StatusProblem {
  const [{ level, kind, cause }] = group as readonly [StatusProblem, ...StatusProblem[]]
  const jobs = group.flatMap(({ job }) => job ?? [])
  const text = `${cause?.what}; that stops ${jobs.length} jobs: ${firstNames(jobs)}. ${cause?.advice}`
  return { level, job: null, kind, text, jobs }
}

/** The worst of the levels; ok where there is no problem. */
export function worstLevel(problems: readonly StatusProblem[]): Level {
  return problems[0]?.level ?? 'ok'
}

/** Credits a day, of the last days with calls. */
export function spentPerDay({ spent: { credits, since } }: Pick<MoneyFacts, 'spent'>, now: number): number {
  return credits / Math.max(1, (now - since) / dayMs)
}

/** How many days the balance lasts at the spending of the last days; null where nothing was spent, or it is not known. */
export function daysLeft(
  { balance, spent }: Pick<MoneyFacts, 'balance' | 'spent'>,
  now: number,
): number | null {
  const perDay = spentPerDay({ spent }, now)
  return balance === null || perDay === 0 ? null : Math.max(0, balance.credits) / perDay
}

function sharedProblem({ mistake, jobs }: BrokenShared): StatusProblem {
  const waiting = jobs === 1 ? 'The job that uses it is' : `The ${jobs} jobs that use it are`
  return {
    level: 'error',
    job: null,
    kind: 'workspace',
    text: `${mistake}. ${waiting} not run until it is mended`,
  }
}

const fewDays = 7
const hardlyADay = 1

function moneyProblems(money: MoneyFacts, now: number): readonly StatusProblem[] {
  const { balance, unexplained } = money
  const problems: StatusProblem[] = []
  const days = daysLeft(money, now)
  if (balance !== null && days !== null && days < fewDays) {
    const lasts = days < hardlyADay ? 'less than a day' : `about ${count(Math.floor(days), 'day')}`
    problems.push({
      level: days < hardlyADay ? 'error' : 'warning',
      job: null,
      kind: 'balance',
      text: `The balance of ${count(balance.credits, 'credit')} lasts ${lasts} at ${grouped(Math.round(spentPerDay(money, now)))} a day. Top up`,
    })
  }
  if (unexplained !== null && unexplained > 0)
    problems.push({
      level: 'warning',
      job: null,
      kind: 'unexplained',
      text: `In the last week the service counted ${count(unexplained, 'credit')} that no call of this database explains. Another program may use the key; see: rankline ledger verify`,
    })
  return problems
}

function messageProblems({ waiting, dead }: StatusFacts['messages']): readonly StatusProblem[] {
  const about = { level: 'warning', job: null, kind: 'messages' } as const
  const problem = (facts: MessageFacts, one: string, many: string): readonly StatusProblem[] => {
    const { messages, channels, error } = facts
    if (messages === 0) return []
    const why = error === null ? '' : ` (${error})`
    const said = `${count(messages, 'message')} to ${channels.join(', ')} ${messages === 1 ? one : many}${why}`
    return [{ ...about, text: `${said}. Try the channel with: rankline alerts test ${channels[0]}` }]
  }
  return [
    ...problem(dead, 'was given up', 'were given up'),
    ...problem(waiting, 'is not delivered yet', 'are not delivered yet'),
  ]
}

const lowBytes = 500_000_000
const leastBytes = 50_000_000

function databaseProblems({ path, damage, freeBytes }: DatabaseFacts): readonly StatusProblem[] {
  const problems: StatusProblem[] = []
  if (damage !== null) problems.push({ level: 'error', job: null, kind: 'database', text: damage })
  if (freeBytes < lowBytes)
    problems.push({
      level: freeBytes < leastBytes ? 'error' : 'warning',
      job: null,
      kind: 'disk',
      text: `The disk of ${path} has ${size(freeBytes)} left. Free some space: on a full disk nothing is bought`,
    })
  return problems
}
