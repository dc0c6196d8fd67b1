import { UsageError } from '../errors.ts'
import type { SandboxOptions } from '../sandbox/options.ts'
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts'
import type { Terminal } from '../terminal.ts'
import { tellAnyhow } from './output.ts'
import { wholeNumber } from './whole-number.ts'

export interface SandboxFlags {
  readonly port?: string
  readonly seed?: string
  readonly key?: string
  readonly balance?: string
  readonly 'per-second'?: string
  readonly 'per-minute'?: string
  readonly latency?: string
  readonly site?: readonly string[]
  readonly date?: string
  readonly json?: boolean
}

/** `rankline sandbox`: the whole service on this machine, until it is interrupted. */
export async function sandbox(flags: SandboxFlags, terminal: Terminal): Promise<number> {
  const running = await startSandbox(sandboxOptions(flags))
  if (flags.date !== undefined) running.control({ date: flags.date })
  await tellAnyhow(
    flags.json === true
      ? `${JSON.stringify({ base_url: running.url, api_key: running.key })}\n`
      : greeting(running, flags.site ?? exampleSites),
    terminal,
  )
  const signal = await interrupted()
  await running.close()
  return signal === 'SIGTERM' ? 143 : 130
}

function greeting({ url, key }: Sandbox, sites: readonly string[]): string {
  return `The sandbox listens on ${url}; Ctrl-C ends it. In another terminal:

  export RANKLINE_BASE_URL=${url}
  export RANKLINE_API_KEY=${key}
  printf 'query,gl,hl\\nstanding desk,us,en\\n' > desks.csv
  rankline run desks.csv --target ${sites[0]} --depth 30
  rankline report desks

Sites that compete for every query: ${sites.join(', ')}; name yours with --site.
What it charged: ${url}/_sandbox/ledger?summary=1
`
}

/** Sites of the example jobs: they compete where no others are named. */
export const exampleSites = ['northdesk.example', 'risewell.example', 'sitless.example']

function sandboxOptions(flags: SandboxFlags): SandboxOptions {
  const total = wholeNumber('--balance', flags.balance)
  const date = flags.date
  if (date !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(date))
    throw new UsageError(`--date cannot be '${date}'; write a day such as 2026-01-31`)
  return {
    port: wholeNumber('--port', flags.port, { max: 65_535 }) ?? 8787,
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    ...(flags.key === undefined ? {} : { key: flags.key }),
    sites: flags.site ?? exampleSites,
    ...(flags.latency === undefined ? {} : { latencyMs: latency(flags.latency) }),
    account: {
      ...(total === undefined ? {} : { subscription: { total } }),
      perSecond: wholeNumber('--per-second', flags['per-second'], { min: 1 }) ?? null,
      perMinute: wholeNumber('--per-minute', flags['per-minute'], { min: 1 }) ?? null,
    },
  }
}

function latency(text: string): readonly [number, number] {
  const [from = '', to = from] = text.split('-')
  if (/^\d+$/.test(from) && /^\d+$/.test(to) && Number(from) <= Number(to)) return [Number(from), Number(to)]
  throw new UsageError(
    `--latency cannot be '${text}'; write milliseconds such as 50 or a range such as 20-200`,
  )
}

function interrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
