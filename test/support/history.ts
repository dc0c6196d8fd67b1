import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { keyHash } from '../../src/run/config.ts'
import { hashText, mix, unit } from '../../src/sandbox/world/hash.ts'
import { cutNetwork } from './cut-network.ts'
import {
  endFaults,
  isPassing,
  isUnanswered,
  type KeyOfHistory,
  keyFaults,
  lastEndFaults,
  type MemberEnd,
  type ReaderEnd,
  readFaults,
} from './history-judge.ts'
import {
  asSuperuser,
  firstTroubles,
  isOver,
  type Member,
  machineUser,
  type Scene,
  shortestLeaseMs,
  start,
  type Trouble,
  trouble,
} from './history-troubles.ts'
import { type OwnService, startOwnService } from './own-service.ts'
import { testPostgres } from './postgres.ts'
import { type Ended, type Started, workspace } from './rankline.ts'

const skewedClock = fileURLToPath(new URL('skewed-clock.mjs', import.meta.url))

/**
 * Things go wrong from the first call on, as long as there is much left to buy; then all is well, and the coordinators may end. A machine with
 * much to do has its troubles, too, although each takes longer there.
 */
const troubleMs = 9_000
const leastTroubles = 6
const longestCalmMs = 500
/** No run and no worker goes on for so long after the last page was bought, also on a machine with much to do. */
const longestEndMs = 120_000
/** How often the same command is run again without anything that comes of it. */
const mostIdleStarts = 3
const pages = 2

export interface PlayedHistory {
  /** What is wrong with its end, one sentence for each. */
  readonly faults: readonly string[]
  readonly troubles: readonly Trouble[]
}

/**
 * The end of a process; one that goes on and on is killed.
 *
 * @param charged what the services have charged so far: while it grows, there is something to do
 */
async function endOf({ who, started }: Member, charged: () => Promise<number>): Promise<MemberEnd> {
  const { child, ended } = started as Started
  const over = new AbortController()
  const watch = async (): Promise<void> => {
    let [before, since] = [await charged(), performance.now()]
    while (!over.signal.aborted) {
      await pause(1_000, undefined, over).catch(() => {})
      const now = await charged()
      if (now > before) [before, since] = [now, performance.now()]
      else if (performance.now() > since + longestEndMs) child.kill('SIGKILL')
    }
  }
  const watched = watch()
  const end = await ended
  over.abort()
  await watched
  return { who, end }
}

/** Credits that the services of all keys have charged so far. */
async function chargedBy(keys: readonly KeyOfHistory[]): Promise<number> {
  const charges = await Promise.all(keys.map(({ service }) => service.charged()))
  return charges.reduce((sum, charged) => sum + charged, 0)
}

const coordinatorOf = (job: string, key: string): string => `the coordinator of ${job} with ${key}`

const wasKilled = ({ code }: Ended): boolean => code === null

/** How each process of a member ended. */
function allEnds({ who, ends }: Member): readonly MemberEnd[] {
  return ends.map((end) => ({ who, end }))
}

/** A history of several machines in which much goes wrong. */
export async function playHistory(seed: number): Promise<PlayedHistory> {
  const salt = hashText(`history ${seed}`)
  const leaseMs = shortestLeaseMs()
  let draws = 0
  const random = (): number => unit(mix(salt, draws++))
  const between = (low: number, high: number): number => Math.floor(low + random() * (high - low + 1))
  await using server = await testPostgres()
  const queue = await server.database()
  const other = await server.database()
  const at = (url: string, port: number): string => url.replace(/:\d+\//, `:${port}/`)
  const urls = { queue: () => at(queue, server.port), other: () => at(other, server.port) }
  await asSuperuser(urls.queue(), async (client) => {
    await client.query(`CREATE ROLE ${machineUser} LOGIN PASSWORD 'secret'`)
    await client.query(`ALTER DATABASE ${new URL(queue).pathname.slice(1)} OWNER TO ${machineUser}`)
  })
  const first = [...firstTroubles(seed)]
  const isFailingOver = first.includes('a standby takes over that lacks the newest transactions')
  const standby = random() < 0.5 || isFailingOver ? await server.addStandby() : null

  // A job of each name for the first key, which start within a second; the second key has one of the same name.
  const keys: KeyOfHistory[] = []
  const coordinators: Member[] = []
  const workers: Member[] = []
  const join = async (who: string, service: OwnService, args: readonly string[]): Promise<Member> => {
    const network = await cutNetwork(() => server.port)
    const place = await workspace(service)
    const address = at(queue, network.port).replace(/\/\/[^:]*:[^@]*@/, `//${machineUser}:secret@`)
    const env = {
      RANKLINE_QUEUE: address,
      NODE_OPTIONS: `--import ${skewedClock}`,
      TEST_CLOCK_SKEW_MS: String(between(-300_000, 300_000)),
    }
    return {
      who,
      place,
      network,
      env,
      args: [...args, '--lease', `${leaseMs / 1000}s`],
      started: null,
      ends: [],
    }
  }
  const bringKey = async (name: string, jobs: readonly string[], machines: number): Promise<void> => {
    const perSecond = between(20, 40)
    const service = await startOwnService(perSecond, [20, 120])
    let wanted = 0
    for (const job of jobs) {
      const one = await join(coordinatorOf(job, name), service, ['run', `${job}.yaml`])
      coordinators.push(one)
      const texts = Array.from({ length: between(25, 40) }, (_, index) => `  - ${job} ${index + 1}`)
      wanted += texts.length * pages
      await one.place.file(
        `${job}.yaml`,
        `depth: ${pages * 10}\ntimezone: UTC\ntargets: [acme.com]\nqueries:\n${texts.join('\n')}\n`,
      )
    }
    for (let number = 1; number <= machines; number++)
      workers.push(await join(`worker ${number} with ${name}`, service, ['worker', '--concurrency', '6']))
    const hash = keyHash({ baseUrl: service.url, apiKey: service.key })
    keys.push({ name, service, keyHash: hash, perSecond, wanted })
  }
  const members = (): readonly Member[] => [...coordinators, ...workers]

  try {
    await bringKey('the first key', ['one', 'two', 'three'], between(2, 4))
    if (random() < 0.5) await bringKey('the second key', ['one'], 2)
    const begin = async (member: Member, afterMs: number): Promise<void> => {
      await pause(afterMs)
      start(member)
    }
    await Promise.all(coordinators.map((one) => begin(one, random() * 800)))
    for (const one of workers) start(one)
    const busy = async (): Promise<Member | undefined> => {
      const { rows } = await asSuperuser(urls.queue(), (client) =>
        client.query<{ name: string }>(
          `SELECT w.name FROM rankline.workers w JOIN rankline.chunks c ON c.worker = w.id WHERE c.state = 'leased'`,
        ),
      )
      return workers.find(({ started }) => rows.some(({ name }) => name.endsWith(` ${started?.child.pid}`)))
    }
    const scene: Scene = {
      ...{ random, members: members(), workers, coordinators, server, standby, urls, busy, beside: [] },
      charged: () => chargedBy(keys),
      leaseMs,
    }

    const charged = (): Promise<number> => chargedBy(keys)
    const wanted = keys.reduce((sum, key) => sum + key.wanted, 0)
    while ((await charged()) === 0 && !coordinators.every(isOver)) await pause(20)
    const until = performance.now() + troubleMs
    const happened: Trouble[] = []
    while (
      (performance.now() < until || happened.length < leastTroubles) &&
      (await charged()) < wanted * 0.8
    ) {
      await pause(random() * longestCalmMs)
      const one = await trouble(scene, first.shift())
      if (one !== null) happened.push(one)
    }
    for (const one of workers) if (isOver(one)) start(one)
    // Those that were killed, could not reach the queue, or lost it to others are started again: the same command goes on.
    const lastEndOf = async (one: Member): Promise<MemberEnd> => {
      let last = await endOf(one, charged)
      for (let idle = 0; isPassing(last) && idle < mostIdleStarts; ) {
        const before = await charged()
        start(one)
        last = await endOf(one, charged)
        idle = (await charged()) > before ? 0 : idle + 1
      }
      return last
    }
    for (const one of coordinators) if (one.started?.child.signalCode === 'SIGKILL') start(one)
    const ends = await Promise.all(coordinators.map(lastEndOf))
    await Promise.all(scene.beside)
    for (const { started } of workers) started?.child.kill('SIGTERM')
    const workerEnds = await Promise.all(workers.map((one) => endOf(one, charged)))
    coordinators.push(await join('a reader that came late', keys[0]?.service as OwnService, []))
    const lastSyncOf = async ({ who, place, env }: Member): Promise<ReaderEnd> => {
      for (let idle = 0; ; idle++) {
        const read = { who: `sync of ${who}`, place, end: await place.run(['sync'], env) }
        if (!isUnanswered(read) || idle === mostIdleStarts) return read
      }
    }
    const failedOver = standby !== null && scene.standby === null
    // What a database writes again after a failover comes to those that synced before it with their next sync.
    if (failedOver) for (const one of coordinators) await lastSyncOf(one)
    const reads: ReaderEnd[] = []
    for (const one of coordinators) reads.push(await lastSyncOf(one))
    const byKey = await asSuperuser(urls.queue(), async (client) => {
      const found: (readonly string[])[] = []
      for (const key of keys) {
        const kills = (job: string): number =>
          coordinators.find(({ who }) => who === coordinatorOf(job, key.name))?.ends.filter(wasKilled)
            .length ?? 0
        found.push(await keyFaults(client, key, kills, failedOver))
      }
      return found.flat()
    })
    const faults = [
      ...endFaults('coordinator', coordinators.flatMap(allEnds)),
      ...endFaults('worker', workers.flatMap(allEnds)),
      ...lastEndFaults(ends),
      ...lastEndFaults(workerEnds),
      ...byKey,
      ...readFaults(reads),
    ]
    return { faults, troubles: happened }
  } finally {
    for (const { started } of members()) started?.child.kill('SIGKILL')
    for (const { place, network } of members()) {
      await place[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    }
    for (const { service } of keys) await service.close()
  }
}
