import { UsageError } from '../../../model/errors.ts'
import { listOption, numberOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { wrapLines } from '../../../output/table.ts'
import type { Terminal } from '../../../output/terminal.ts'
import { shortestKey } from '../../../run/config.ts'
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts'
import type { SandboxOptions } from '../../../sandbox/state.ts'
import type { Command, TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

const flags = {
  port: textOption('Port on 127.0.0.1; 0 takes a free one [8787]'),
  seed: textOption('Same seed, same results [rankline]'),
  key: textOption('API key that it accepts [sandbox-key]'),
  balance: textOption('Credits to begin with [100000]'),
  'per-second': textOption('Calls allowed per second; default: no limit'),
  'per-minute': textOption('Calls allowed per minute; default: no limit'),
  latency: textOption('Milliseconds that a call takes, or a range such as 20-200 [0]'),
  site: listOption('Site that competes for every query; default: those of the example jobs'),
  date: textOption('Day whose results it shows; default: today'),
} satisfies OptionSpecs

export type SandboxFlags = TypedOptions<typeof flags>

export const sandboxCommand = {
  flags,
  exits: [0, 1, 2],
  docs: 'docs/sandbox.md',
  examples: [['sandbox --site acme.com --port 0', 'your site among the results']],
  run: sandbox,
} satisfies Command

/** `rankline sandbox`: the whole service on this machine, until it is interrupted. */
export async function sandbox(flags: SandboxFlags, terminal: Terminal): Promise<number> {
  const running = await startSandbox(sandboxOptions(flags))
  if (flags.date !== undefined) running.control({ date: flags.date })
  await outFile.printBestEffort(
    flags.json === true
      ? `${JSON.stringify({ base_url: running.url, api_key: running.key })}\n`
      : wrapLines(greeting(running, flags.site ?? exampleSites), terminal.columns),
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
  const total = numberOption('--balance', flags.balance)
  const { key, date } = flags
  if (key !== undefined && key.length < shortestKey)
    throw new UsageError(`--key needs at least ${shortestKey} characters, as every API key has them`)
  if (date !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(date))
    throw new UsageError(`--date cannot be '${date}'; write a day such as 2026-01-31`)
  return {
    port: numberOption('--port', flags.port, { max: 65_535 }) ?? 8787,
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    ...(key === undefined ? {} : { key }),
    sites: flags.site ?? exampleSites,
    ...(flags.latency === undefined ? {} : { latencyMs: latency(flags.latency) }),
    account: {
      ...(total === undefined ? {} : { subscription: { total } }),
      perSecond: numberOption('--per-second', flags.perSecond, { min: 1 }) ?? null,
      perMinute: numberOption('--per-minute', flags.perMinute, { min: 1 }) ?? null,
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
