import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { hashText, mix, unit } from '../../src/sandbox/world/hash.ts'
import { openPostgres, type Postgres } from '../../src/store/postgres/connection.ts'
import { patiently } from '../../src/store/shared/patience.ts'
import { type CutNetwork, cutNetwork } from './cut-network.ts'
import type { TestPostgres } from './postgres.ts'
import { type Ended, type Started, type Workspace, workspace } from './rankline.ts'

const skewedClock = fileURLToPath(new URL('skewed-clock.mjs', import.meta.url))

/** Things go wrong from the first call on, as long as there is much left to buy; then all is well, and the coordinators may end. */
const longestTroubleMs = 7_000
const longestCalmMs = 500
const leaseMs = 1_000
const pages = 2

interface Member {
  readonly place: Workspace
  readonly network: CutNetwork
  readonly env: Readonly<Record<string, string>>
  started: Started | null
}

/** A history of several machines in which much goes wrong, and what is wrong with its end: one sentence for each. */
export async function playHistory(seed: number, server: TestPostgres): Promise<readonly string[]> {
  const salt = hashText(`history ${seed}`)
  let draws = 0
  const random = (): number => unit(mix(salt, draws++))
  const between = (low: number, high: number): number => Math.floor(low + random() * (high - low + 1))
  const lease = `${leaseMs / 1000}s`
  const database = await server.database()
  const perSecond = between(20, 40)
  const sandbox = await startSandbox({ account: { perSecond }, latencyMs: [20, 120] })
  const members: Member[] = []
  const join = async (): Promise<Member> => {
    const network = await cutNetwork(() => server.port)
    const place = await workspace(sandbox)
    const env = {
      RANKLINE_QUEUE: database.replace(/:\d+\//, `:${network.port}/`),
      NODE_OPTIONS: `--import ${skewedClock}`,
      TEST_CLOCK_SKEW_MS: String(between(-300_000, 300_000)),
    }
    const member: Member = { place, network, env, started: null }
    members.push(member)
    return member
  }

  try {
    const workers: Member[] = []
    for (let count = between(4, 8); count > 0; count--) workers.push(await join())
    const coordinators: Member[] = []
    let wanted = 0
    for (const name of ['one', 'two']) {
      const member = await join()
      const texts = Array.from({ length: between(35, 55) }, (_, index) => `  - ${name} ${index + 1}`)
      const queries = texts.join('\n')
      wanted += texts.length * pages
      await member.place.file(
        `${name}.yaml`,
        `depth: ${pages * 10}\ntimezone: UTC\ntargets: [acme.com]\nqueries:\n${queries}\n`,
      )
      coordinators.push(member)
    }
    const startWorker = (member: Member): void => {
      member.started = member.place.start(['worker', '--lease', lease, '--concurrency', '6'], member.env)
    }
    const startCoordinator = (member: Member): void => {
      const name = coordinators.indexOf(member) === 0 ? 'one' : 'two'
      member.started = member.place.start(['run', `${name}.yaml`, '--lease', lease], member.env)
    }
    for (const member of coordinators) startCoordinator(member)
    for (const member of workers) startWorker(member)
    await using postgres = await openPostgres(database)
    const busy = async (): Promise<Member | undefined> => {
      const asked = () =>
        postgres.query<{ name: string }>(
          `SELECT w.name FROM rankline.workers w JOIN rankline.chunks c ON c.worker = w.id WHERE c.state = 'leased'`,
        )
      const rows = await patiently(asked)
      return workers.find(({ started }) => rows.some(({ name }) => name.endsWith(` ${started?.child.pid}`)))
    }

    while (sandbox.ledger.charged === 0) await pause(20)
    const until = performance.now() + longestTroubleMs
    while (performance.now() < until && sandbox.ledger.charged < wanted * 0.8) {
      await pause(random() * longestCalmMs)
      await trouble({ busy, random, workers, coordinators, server, startWorker, startCoordinator })
    }
    for (const { network, started } of members) {
      network.mend()
      started?.child.kill('SIGCONT')
    }
    for (const member of workers) if (isOver(member)) startWorker(member)
    const ends: Ended[] = []
    for (const member of coordinators) {
      let end = await (member.started as Started).ended
      // It was killed, or could not go on: the same command does.
      for (let times = 0; end.code !== 0 && times < 3; times++) {
        startCoordinator(member)
        end = await (member.started as Started).ended
      }
      ends.push(end)
    }
    for (const { started } of workers) started?.child.kill('SIGTERM')
    const workerEnds = await Promise.all(workers.map(({ started }) => (started as Started).ended))
    const late = await join()
    const syncs: Ended[] = []
    for (const member of [...coordinators, late]) syncs.push(await member.place.run(['sync'], member.env))
    return [
      ...endFaults('coordinator', ends),
      ...endFaults('worker', workerEnds),
      ...endFaults('reader', syncs),
      ...(await moneyFaults(postgres, sandbox)),
      ...callFaults(await boughtTasks(postgres), sandbox, wanted),
      ...rateFaults(sandbox, perSecond),
      ...readFaults([...coordinators, late]),
    ]
  } finally {
    for (const { started } of members) started?.child.kill('SIGKILL')
    for (const { place, network } of members) {
      await place[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    }
    await sandbox.close()
  }
}

function endFaults(who: string, ends: readonly Ended[]): readonly string[] {
  return ends.flatMap(({ code, stderr }) => (code === 0 ? [] : [`a ${who} ended with ${code}: ${stderr}`]))
}

function isOver({ started }: Member): boolean {
  return started === null || started.child.exitCode !== null || started.child.signalCode !== null
}

interface Scene {
  /** The one whose loss costs most: it has chunks. */
  readonly busy: () => Promise<Member | undefined>
  readonly random: () => number
  readonly workers: readonly Member[]
  readonly coordinators: readonly Member[]
  readonly server: TestPostgres
  readonly startWorker: (member: Member) => void
  readonly startCoordinator: (member: Member) => void
}

/** Something goes wrong, or a process that died is started again. */
async function trouble({
  busy,
  random,
  workers,
  coordinators,
  server,
  startWorker,
  startCoordinator,
}: Scene): Promise<void> {
  const pick = (members: readonly Member[]): Member =>
    members[Math.floor(random() * members.length)] as Member
  const one = (random() < 0.8 ? await busy() : undefined) ?? pick(workers)
  switch (Math.floor(random() * 8)) {
    case 0:
    case 1:
      one.started?.child.kill('SIGKILL')
      await one.started?.ended
      return
    case 2: {
      // Longer than its lease: it wakes up as one whose chunks others have.
      one.started?.child.kill('SIGSTOP')
      await pause(leaseMs * (1.2 + random()))
      one.started?.child.kill('SIGCONT')
      return
    }
    case 3:
      one.network.drop()
      return
    case 4: {
      one.network.cut()
      await pause(leaseMs * 2 * random())
      one.network.mend()
      return
    }
    case 5: {
      const dead = workers.find(isOver)
      if (dead !== undefined) startWorker(dead)
      return
    }
    case 6: {
      const coordinator = pick(coordinators)
      coordinator.started?.child.kill('SIGKILL')
      const end = await coordinator.started?.ended
      // After its end the same command would begin anew.
      if (end?.code !== 0) startCoordinator(coordinator)
      return
    }
    default:
      // It loses what no commit has waited for.
      await server.crash()
      await server.start()
  }
}

interface BoughtTask {
  readonly query: string
  readonly page: number
  /** Calls whose worker was lost before they were settled. */
  readonly lost: number
}

/** What stands in the shared ledger, and what the service has charged. */
async function moneyFaults(postgres: Postgres, sandbox: Sandbox): Promise<readonly string[]> {
  const [sums] = await postgres.query<{
    billed: number
    ambiguous: number
    open: number
    spent: number
    doubt: number
    quarters: number
  }>(
    `SELECT (SELECT coalesce(sum(credits), 0)::int FROM rankline.calls WHERE billed = 1) AS billed,
      (SELECT coalesce(sum(credits), 0)::int FROM rankline.calls WHERE billed IS NULL) AS ambiguous,
      (SELECT count(*)::int FROM rankline.calls WHERE outcome IS NULL) AS open,
      (SELECT coalesce(sum(spent), 0)::int FROM rankline.chunks) AS spent,
      (SELECT coalesce(sum(in_doubt), 0)::int FROM rankline.chunks) AS doubt,
      (SELECT coalesce(sum(spent + in_doubt), 0)::int FROM rankline.spending) AS quarters`,
  )
  if (sums === undefined) return ['there are no sums']
  const { billed, ambiguous, open, spent, doubt, quarters } = sums
  const found: string[] = []
  if (sandbox.ledger.charged < billed || sandbox.ledger.charged > billed + ambiguous)
    found.push(
      `the service charged ${sandbox.ledger.charged}, the journal has ${billed} and ${ambiguous} in doubt`,
    )
  if (open > 0) found.push(`${open} calls never ended`)
  if (spent !== billed || doubt !== ambiguous || quarters !== billed + ambiguous)
    found.push(`chunks: ${spent} and ${doubt}, quarters: ${quarters}, calls: ${billed} and ${ambiguous}`)
  return found
}

async function boughtTasks(postgres: Postgres): Promise<readonly BoughtTask[]> {
  return await postgres.query<BoughtTask>(
    `SELECT encode(query, 'hex') AS query, page, count(lost_at)::int AS lost
    FROM rankline.calls WHERE credits > 0 GROUP BY query, page`,
  )
}

/** A page is bought once, and again only where a worker was lost before it had settled its call. */
function callFaults(tasks: readonly BoughtTask[], sandbox: Sandbox, wanted: number): readonly string[] {
  const lost = tasks.reduce((sum, task) => sum + task.lost, 0)
  const bought = new Map<string, number>()
  for (const { params, page, charged } of sandbox.ledger.requests) {
    const key = `${String(params.query)} ${String(page ?? 1)}`
    if (charged > 0) bought.set(key, (bought.get(key) ?? 0) + 1)
  }
  const again = [...bought.values()].reduce((sum, times) => sum + times - 1, 0)
  const found =
    tasks.length === wanted && bought.size === wanted
      ? []
      : [`${tasks.length} pages in the journal, ${bought.size} at the service, ${wanted} wanted`]
  return again <= lost ? found : [...found, `${again} pages were bought again, ${lost} calls were lost`]
}

/** A call that the service refused for its rate came too early. */
function rateFaults({ ledger }: Sandbox, perSecond: number): readonly string[] {
  const worst = ledger.maxInWindow(1_000)
  if (ledger.refusals === 0 && worst <= perSecond) return []
  return [
    `${ledger.refusals} calls were refused for their rate; ${worst} in the worst second, ${perSecond} allowed`,
  ]
}

/** What reports read, without the numbers that each database gives for itself. */
function readFaults(members: readonly Member[]): readonly string[] {
  const read = ({ place }: Member): string =>
    JSON.stringify([
      place.sql(
        'SELECT job, query, page, rank, position, link, title FROM organic_results ORDER BY 1, 2, 3, 4, 5',
      ),
      place.sql(
        'SELECT job, query, target, date, state, rank, exactness, depth, observed_at FROM rankings ORDER BY 1, 2, 3',
      ),
      place.sql(
        'SELECT job, finish_reason, tasks_planned, tasks_done, tasks_failed, credits_spent, credits_ambiguous FROM runs ORDER BY 1',
      ),
    ])
  const [first, ...others] = members.map(read)
  const found = others.flatMap((other, index) =>
    other === first ? [] : [`database ${index + 2} differs from the first`],
  )
  const runs = (members[0] as Member).place.sql<{
    finish_reason: string
    tasks_planned: number
    tasks_done: number
  }>('SELECT finish_reason, tasks_planned, tasks_done FROM runs')
  const unfinished = runs.filter(
    ({ finish_reason, tasks_planned, tasks_done }) =>
      finish_reason !== 'completed' || tasks_planned !== tasks_done,
  )
  return [...found, ...unfinished.map((run) => `not completed: ${JSON.stringify(run)}`)]
}
