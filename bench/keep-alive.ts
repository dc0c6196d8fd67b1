import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultKeepAlive, type KeepAlive } from '../src/api/http.ts'
import {
  type Caller,
  callAtRandom,
  callAtTheEnd,
  emptyTally,
  openCaller,
  type Tally,
  type WireSettings,
} from './calls.ts'
import type { ServerConduct } from './conduct.ts'
import { print } from './print.ts'

/**
 * How many calls are lost because the server closes an idle connection just then, and how many connections it takes to
 * lose none: for each limit that we could set for idle connections. Prints the tables of docs/connections.md.
 *
 * Arguments: calls with each limit [1000], seconds of calls at random times [40].
 */

const callsOfEach = Number(process.argv[2] ?? 1_000)
const spreadMs = 30
/** Few enough for the client's own times to be kept. */
const callsPerSecondOfEach = 50
const serversWait = [500, 1_000, 2_000, 5_000]
const delays = [0, 20]
const withoutHint = [300, 500, 1_000, 2_000, 4_000]
const beforeHint = [0, 500, 1_000, 2_000]
const callsPerSecond = [1, 5, 20, 40]
const secondsOfThem = Number(process.argv[3] ?? 40)

/** A column of a table. */
interface Limit {
  readonly head: string
  readonly keepAlive: KeepAlive
}

const limitsWithoutHint: readonly Limit[] = withoutHint.map((ms) => ({
  head: `${ms} ms`,
  keepAlive: { ...defaultKeepAlive, withoutHintMs: ms },
}))

const limitsWithHint: readonly Limit[] = beforeHint.map((ms) => ({
  head: ms === 0 ? 'the hint' : `hint − ${ms} ms`,
  keepAlive: { ...defaultKeepAlive, beforeHintMs: ms },
}))

const { server, origin } = await startServer()
print(`Node ${process.versions.node}, ${process.platform}, ${cpus().length} × ${cpus()[0]?.model}`)
const tables = await Promise.all([
  tableOfLost('Without a hint', limitsWithoutHint, () => null),
  tableOfLost('With a hint', limitsWithHint, hintFor),
])
for (const table of [...tables, await tableOfCost()]) print(table)
server.disconnect()

async function startServer() {
  const server = fork(fileURLToPath(new URL('./idle-server.js', import.meta.url)))
  const [port] = await once(server, 'message')
  return { server, origin: `http://127.0.0.1:${port}` }
}

/** Hints are whole seconds. A server that waits for less than one can only say too much. */
function hintFor(idleMs: number): number {
  return Math.max(1, Math.floor(idleMs / 1_000))
}

async function tableOfLost(
  title: string,
  limits: readonly Limit[],
  hint: (idleMs: number) => number | null,
): Promise<string> {
  const rows: string[][] = []
  for (const idleMs of serversWait) {
    const both = delays.map(async (delayMs) => {
      const conduct = { idleMs, hintSeconds: hint(idleMs), delayMs, answerMs: 0 }
      const tallies = await Promise.all(limits.map(({ keepAlive }) => callIdle(conduct, keepAlive)))
      const said = conduct.hintSeconds === null ? 'nothing' : `timeout=${conduct.hintSeconds}`
      return [`${idleMs} ms`, said, `${delayMs} ms`, ...tallies.map(lostAndMade)]
    })
    rows.push(...(await Promise.all(both)))
  }
  const heads = ['server closes after', 'and says', 'way', ...limits.map(({ head }) => head)]
  return table(`${title}: lost of ${callsOfEach} calls (new connections per call), by our limit`, heads, rows)
}

async function callIdle(conduct: ServerConduct, keepAlive: KeepAlive): Promise<Tally> {
  const tally = emptyTally()
  const { idleMs } = conduct
  const lanes = (callsPerSecondOfEach * idleMs) / 1_000
  const each = { idleMs, calls: callsOfEach / lanes, spreadMs, tally }
  await inLanes(lanes, conduct, { connections: 1, keepAlive }, (caller) => callAtTheEnd(caller, each))
  return tally
}

/** What the limits cost where nothing goes wrong: a server that waits for long, and calls at random times. */
async function tableOfCost(): Promise<string> {
  const rows = callsPerSecond.map(async (perSecond) => {
    const tallies = await Promise.all(
      limitsWithoutHint.map(({ keepAlive }) => callOften(perSecond, keepAlive)),
    )
    return [String(perSecond), ...tallies.map(made)]
  })
  const heads = ['calls per second', ...limitsWithoutHint.map(({ head }) => head)]
  const title = 'Calls at random times, answered after 240 ms: new connections per call, by our limit'
  return table(title, heads, await Promise.all(rows))
}

async function callOften(perSecond: number, keepAlive: KeepAlive): Promise<Tally> {
  const tally = emptyTally()
  const conduct = { idleMs: 75_000, hintSeconds: null, delayMs: 20, answerMs: 200 }
  const each = { perSecond, calls: perSecond * secondsOfThem, tally }
  const lanes = Math.max(...callsPerSecond) / perSecond
  await inLanes(lanes, conduct, { connections: 256, keepAlive }, (caller) => callAtRandom(caller, each))
  return tally
}

async function inLanes(
  lanes: number,
  conduct: ServerConduct,
  wire: WireSettings,
  use: (caller: Caller) => Promise<void>,
): Promise<void> {
  const callers = Array.from({ length: lanes }, () => openCaller(origin, conduct, wire))
  await Promise.all(callers.map(use))
  await Promise.all(callers.map((caller) => caller.close()))
}

function made({ made, calls }: Tally): string {
  return (made / calls).toFixed(2)
}

function lostAndMade(tally: Tally): string {
  return `${tally.ambiguous} (${made(tally)})`
}

function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `\n${title}:\n\n${lines.join('\n')}`
}
