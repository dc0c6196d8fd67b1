import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { CutNetwork } from './cut-network.ts'
import type { Standby, TestPostgres } from './postgres.ts'
import type { Ended, Started, Workspace } from './rankline.ts'

/** A process of a history, on a machine with a folder, a clock and a network of its own. */
export interface Member {
  /** For people. */
  readonly who: string
  readonly place: Workspace
  readonly network: CutNetwork
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  started: Started | null
  /** How each of its processes ended. */
  readonly ends: Ended[]
}

/** What a trouble may do something to. */
export interface Scene {
  readonly random: () => number
  readonly members: readonly Member[]
  readonly workers: readonly Member[]
  readonly coordinators: readonly Member[]
  /** Credits that were charged so far. */
  readonly charged: () => Promise<number>
  readonly server: TestPostgres
  readonly leaseMs: number
  /** Where the server has one that may take its place, once. */
  standby: Standby | null
  /** The queue, and another database of its server, as a superuser. */
  readonly urls: { readonly queue: () => string; readonly other: () => string }
  /** A worker that has chunks: its loss costs most. */
  readonly busy: () => Promise<Member | undefined>
  /** What goes on beside everything else and ends by itself. */
  readonly beside: Promise<void>[]
}

/** The user of all members. */
export const machineUser = 'machine'
/** As long as a lease where the machine has little to do. */
const shortMs = 2_000

/** Each kind of trouble, and how often it is drawn beside the others. It answers whether it came about. */
const kinds = {
  'a worker is killed': { weight: 2, happen: killWorker },
  'a dead worker is started again': { weight: 1, happen: startWorker },
  'a worker is stopped for longer than its lease': { weight: 1, happen: stopWorker },
  'the connections of a process are reset': { weight: 1, happen: reset },
  'a process is cut off': { weight: 1, happen: cutOff },
  'a coordinator is killed': { weight: 1, happen: killCoordinator },
  'the database crashes': { weight: 1, happen: crash },
  'statements time out': { weight: 1, happen: timeOut },
  'statements are cancelled': { weight: 1, happen: cancel },
  'another transaction of the queue lasts long': { weight: 1, happen: (scene) => holdOpen(scene, 'queue') },
  'a transaction of another database lasts long': { weight: 1, happen: (scene) => holdOpen(scene, 'other') },
  'a standby takes over that lacks the newest transactions': { weight: 1, happen: failOver },
} as const satisfies Readonly<
  Record<string, { readonly weight: number; readonly happen: (scene: Scene) => Promise<boolean> }>
>

export type Trouble = keyof typeof kinds

export const troubles = Object.keys(kinds) as readonly Trouble[]
const lots = troubles.flatMap((kind) => Array.from({ length: kinds[kind].weight }, () => kind))

/** What a history begins with, so that six of them in a row have every kind; what follows is drawn. */
export function firstTroubles(history: number): readonly Trouble[] {
  return [2 * history, 2 * history + 1].map((place) => troubles[place % troubles.length] as Trouble)
}

/** Something goes wrong, or a process that died is started again. Null where what was drawn could not come about. */
export async function trouble(scene: Scene, kind: Trouble = pick(scene, lots)): Promise<Trouble | null> {
  return (await kinds[kind].happen(scene)) ? kind : null
}

/**
 * As short as workers that are alive can renew it, with some to spare: where a machine has so much to do that a question to the queue takes
 * a second, those of two seconds all run out, and the same pages are tried again and again.
 */
export function shortestLeaseMs(): number {
  const [load = 0] = loadavg()
  return Math.ceil(Math.max(1, load / availableParallelism() / usualLoad)) * shortMs
}

/** Processes that want to run for each core, where all tests run at once. */
const usualLoad = 8

export function start(member: Member): void {
  const started = member.place.start(member.args, member.env)
  member.started = started
  started.ended.then((end) => member.ends.push(end))
}

export function isOver({ started }: Member): boolean {
  return started === null || started.child.exitCode !== null || started.child.signalCode !== null
}

function pick<T>({ random }: Scene, among: readonly T[]): T {
  return among[Math.floor(random() * among.length)] as T
}

/** Mostly one that has chunks. */
async function aWorker(scene: Scene): Promise<Member> {
  const busy = scene.random() < 0.8 ? await scene.busy() : undefined
  return busy ?? pick(scene, scene.workers)
}

async function killWorker(scene: Scene): Promise<boolean> {
  const one = await aWorker(scene)
  if (isOver(one)) return false
  one.started?.child.kill('SIGKILL')
  await one.started?.ended
  return true
}

/** It wakes up as one whose chunks others have. */
async function stopWorker(scene: Scene): Promise<boolean> {
  const one = await aWorker(scene)
  if (isOver(one)) return false
  one.started?.child.kill('SIGSTOP')
  await pause(scene.leaseMs * (1.2 + scene.random()))
  one.started?.child.kill('SIGCONT')
  return true
}

async function reset(scene: Scene): Promise<boolean> {
  const one = scene.random() < 0.8 ? await aWorker(scene) : pick(scene, scene.coordinators)
  one.network.drop()
  return !isOver(one)
}

async function cutOff(scene: Scene): Promise<boolean> {
  const one = scene.random() < 0.8 ? await aWorker(scene) : pick(scene, scene.coordinators)
  one.network.cut()
  await pause(scene.leaseMs * 2 * scene.random())
  one.network.mend()
  return !isOver(one)
}

async function startWorker({ workers }: Scene): Promise<boolean> {
  const dead = workers.find(isOver)
  if (dead === undefined) return false
  start(dead)
  return true
}

async function killCoordinator(scene: Scene): Promise<boolean> {
  const one = pick(scene, scene.coordinators)
  one.started?.child.kill('SIGKILL')
  const end = await one.started?.ended
  // After its end the same command would begin anew.
  if (end?.code === 0) return false
  start(one)
  return true
}

/** It loses what no commit has waited for. */
async function crash({ server }: Scene): Promise<boolean> {
  await server.crash()
  await server.start()
  return true
}

/** For a while each statement of a member may take so long that some come through and some do not. */
async function timeOut(scene: Scene): Promise<boolean> {
  const before = said(scene, 'statement timeout')
  const most = Math.ceil(scene.random() ** 2 * 20)
  await asSuperuser(scene.urls.queue(), async (client) => {
    await client.query(`ALTER ROLE ${machineUser} SET statement_timeout = ${most}`)
    await client.query(newSessions, [machineUser])
    await pause(shortMs * 1.5 * scene.random())
    await client.query(`ALTER ROLE ${machineUser} RESET statement_timeout`)
    await client.query(newSessions, [machineUser])
  })
  return said(scene, 'statement timeout') > before
}

/** What is set for a role holds for the sessions that begin then. */
const newSessions = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1'

/** As a watchdog does that ends whatever it sees. */
async function cancel(scene: Scene): Promise<boolean> {
  const before = said(scene, 'user request')
  const until = performance.now() + shortMs * scene.random()
  await asSuperuser(scene.urls.queue(), async (client) => {
    while (performance.now() < until) {
      await client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND state <> 'idle'`,
        [machineUser],
      )
      await pause(5)
    }
  })
  return said(scene, 'user request') > before
}

/** It may outlast the trouble, and the runs. */
async function holdOpen(scene: Scene, where: keyof Scene['urls']): Promise<boolean> {
  const client = new Client({ connectionString: scene.urls[where](), application_name: 'pg_dump' })
  let isLost = false
  client.on('error', () => {
    isLost = true
  })
  await client.connect()
  await client.query('BEGIN; SELECT pg_current_xact_id()')
  const lastMs = shortMs * (1 + 7 * scene.random())
  const close = async (): Promise<void> => {
    await pause(lastMs)
    if (!isLost) await client.end()
  }
  scene.beside.push(close())
  return true
}

/** The stream was cut some moments before: what was committed since is gone. */
async function failOver(scene: Scene): Promise<boolean> {
  const { standby, charged, random, server } = scene
  if (standby === null) return false
  scene.standby = null
  const before = await charged()
  standby.cut()
  await pause(50 + 950 * random())
  await standby.promote()
  // New connections are made to the server that is there now.
  for (const { network } of scene.members) network.drop()
  return (await charged()) > before && server.port === standby.port
}

function said({ server }: Scene, why: string): number {
  return server.log().split(`canceling statement due to ${why}`).length - 1
}

/** Does something as a superuser, however long the server takes to answer. */
export async function asSuperuser<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
