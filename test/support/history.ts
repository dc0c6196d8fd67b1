import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openPostgres } from '../../src/machines/postgres/connection.ts'
import { keyHash } from '../../src/run/config.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { hashText, mix, unit } from '../../src/sandbox/world/hash.ts'
import { whenReachable } from '../../src/store/shared/waiting.ts'
import { cutNetwork } from './cut-network.ts'
import { endFaults, type KeyOfHistory, keyFaults, lastEndFaults, readFaults } from './history-judge.ts'
import {
  isOver,
  leaseMs,
  type Member,
  machineUser,
  type Scene,
  start,
  type Trouble,
  trouble,
} from './history-troubles.ts'
import { testPostgres } from './postgres.ts'
import { type Ended, type Started, workspace } from './rankline.ts'

const skewedClock = fileURLToPath(new URL('skewed-clock.mjs', import.meta.url))

/** Things go wrong from the first call on, as long as there is much left to buy; then all is well, and the coordinators may end. */
const longestTroubleMs = 9_000
const longestCalmMs = 500
/** No run and no worker takes so long to its end, also on a machine with much to do. */
const longestEndMs = 120_000
const pages = 2
const lease = `${leaseMs / 1000}s`

export interface PlayedHistory {
  /** What is wrong with its end, one sentence for each. */
  readonly faults: readonly string[]
  readonly troubles: readonly Trouble[]
}

/** The end of a process; one that goes on and on is killed. */
async function endWithin({ started }: Member): Promise<Ended> {
  const { child, ended } = started as Started
  const over = new AbortController()
  const tooLate = pause(longestEndMs, undefined, over).then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  const end = await ended
  over.abort()
  await tooLate
  return end
}

/** A history of several machines in which much goes wrong. */
export async function playHistory(seed: number): Promise<PlayedHistory> {
  const salt = hashText(`history ${seed}`)
  let draws = 0
  const random = (): number => unit(mix(salt, draws++))
  const between = (low: number, high: number): number => Math.floor(low + random() * (high - low + 1))
  await using server = await testPostgres()
  const queue = await server.database()
  const other = await server.database()
  await using inspecting = await cutNetwork(() => server.port)
  const at = (url: string, port: number): string => url.replace(/:\d+\//, `:${port}/`)
  await using postgres = await openPostgres(at(queue, inspecting.port))
  await postgres.query(`CREATE ROLE ${machineUser} LOGIN PASSWORD 'secret'`)
  await postgres.query(`ALTER DATABASE ${new URL(queue).pathname.slice(1)} OWNER TO ${machineUser}`)
  const standby = random() < 0.5 ? await server.addStandby() : null

  // A job of each name for the first key, which start within a second; the second key has one of the same name.
  const keys: KeyOfHistory[] = []
  const coordinators: Member[] = []
  const workers: Member[] = []
  const join = async (service: Sandbox, args: readonly string[]): Promise<Member> => {
    const network = await cutNetwork(() => server.port)
    const place = await workspace(service)
    const address = at(queue, network.port).replace(/\/\/[^:]*:[^@]*@/, `//${machineUser}:secret@`)
    const env = {
      RANKLINE_QUEUE: address,
      NODE_OPTIONS: `--import ${skewedClock}`,
      TEST_CLOCK_SKEW_MS: String(between(-300_000, 300_000)),
    }
    return { place, network, env, args: [...args, '--lease', lease], started: null, ends: [] }
  }
  const bringKey = async (names: readonly string[], machines: number): Promise<void> => {
    const perSecond = between(20, 40)
    const service = await startSandbox({ account: { perSecond }, latencyMs: [20, 120] })
    let wanted = 0
    for (const name of names) {
      const one = await join(service, ['run', `${name}.yaml`])
      coordinators.push(one)
      const texts = Array.from({ length: between(25, 40) }, (_, index) => `  - ${name} ${index + 1}`)
      wanted += texts.length * pages
      await one.place.file(
        `${name}.yaml`,
        `depth: ${pages * 10}\ntimezone: UTC\ntargets: [acme.com]\nqueries:\n${texts.join('\n')}\n`,
      )
    }
    for (let count = machines; count > 0; count--)
      workers.push(await join(service, ['worker', '--concurrency', '6']))
    const hash = keyHash({ baseUrl: service.url, apiKey: service.key })
    keys.push({ service, keyHash: hash, perSecond, wanted })
  }
  const members = (): readonly Member[] => [...coordinators, ...workers]

  try {
    await bringKey(['one', 'two', 'three'], between(2, 4))
    if (random() < 0.5) await bringKey(['one'], 2)
    const begin = async (member: Member, afterMs: number): Promise<void> => {
      await pause(afterMs)
      start(member)
    }
    await Promise.all(coordinators.map((one) => begin(one, random() * 800)))
    for (const one of workers) start(one)
    const busy = async (): Promise<Member | undefined> => {
      const asked = () =>
        postgres.query<{ name: string }>(
          `SELECT w.name FROM rankline.workers w JOIN rankline.chunks c ON c.worker = w.id WHERE c.state = 'leased'`,
        )
      const rows = await whenReachable(asked)
      return workers.find(({ started }) => rows.some(({ name }) => name.endsWith(` ${started?.child.pid}`)))
    }
    const scene: Scene = {
      ...{ random, members: members(), workers, coordinators, server, standby, busy, beside: [] },
      services: keys.map(({ service }) => service),
      urls: { queue: () => at(queue, server.port), other: () => at(other, server.port) },
    }

    const charged = (): number => keys.reduce((sum, { service }) => sum + service.ledger.charged, 0)
    const wanted = keys.reduce((sum, key) => sum + key.wanted, 0)
    while (charged() === 0) await pause(20)
    const until = performance.now() + longestTroubleMs
    const happened: Trouble[] = []
    while (performance.now() < until && charged() < wanted * 0.8) {
      await pause(random() * longestCalmMs)
      const one = await trouble(scene)
      if (one !== null) happened.push(one)
    }
    for (const one of workers) if (isOver(one)) start(one)
    // Those that were killed, or could not reach the queue, are started again: the same command goes on.
    const endOf = async (one: Member): Promise<Ended> => {
      let end = await endWithin(one)
      for (let times = 0; (end.code === 6 || end.code === 7) && times < 3; times++) {
        start(one)
        end = await endWithin(one)
      }
      return end
    }
    for (const one of coordinators) if (one.started?.child.signalCode === 'SIGKILL') start(one)
    const ends = await Promise.all(coordinators.map(endOf))
    await Promise.all(scene.beside)
    for (const { started } of workers) started?.child.kill('SIGTERM')
    const workerEnds = await Promise.all(workers.map(endWithin))
    const late = await join(keys[0]?.service as Sandbox, [])
    coordinators.push(late)
    const syncs: Ended[] = []
    for (const { place, env } of coordinators) syncs.push(await place.run(['sync'], env))
    const byKey: string[] = []
    const failedOver = standby !== null && scene.standby === null
    for (const key of keys) byKey.push(...(await keyFaults(postgres, key, failedOver)))
    const faults = [
      ...coordinators.flatMap(({ ends: all }) => endFaults('coordinator', all)),
      ...workers.flatMap(({ ends: all }) => endFaults('worker', all)),
      ...lastEndFaults('coordinator', ends),
      ...lastEndFaults('worker', workerEnds),
      ...lastEndFaults('reader', syncs),
      ...byKey,
      ...readFaults(coordinators.map(({ place }) => place)),
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
