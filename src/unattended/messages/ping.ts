import { RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import { firstNames } from '../../model/text.ts'
import type { Outgoing } from '../../run/app.ts'
import { addressIn } from '../channels/index.ts'

/** What a dead man's switch is told, of the kind of healthchecks.io. */
type PingEvent = 'start' | 'success' | 'fail'

const pathOf: Readonly<Record<PingEvent, string>> = { start: '/start', success: '', fail: '/fail' }

/** A ping must not hold up what it reports on. */
const timeoutMs = 5_000
const longestBody = 10_000

/** A job with its switch. */
type PingedJob = Pick<JobSettings, 'name' | 'ping'>

/**
 * Tells the switches of jobs, where they have one, what happened. Never rejected: at the start of a run nothing waits for it. Pings
 * that did not arrive for one reason are one line, whatever jobs and events they are of.
 */
function pinger({ outgoing, log, reported = new Set() }: PingOptions) {
  const failed = new Map<string, Set<string>>()
  return {
    send: async ({ name, ping }: PingedJob, event: PingEvent, body: string): Promise<void> => {
      if (ping == null) return
      const problem = await send(ping.urlEnv, event, body, outgoing).catch(reasonOf)
      if (problem === null) return
      failed.set(problem, (failed.get(problem) ?? new Set()).add(name))
    },
    /** Says what did not arrive, unless it was said before. */
    sayFailed: (): void => {
      for (const [problem, jobs] of failed)
        if (!reported.has(problem))
          log(`Pings of ${firstNames([...jobs].sort())} did not arrive: ${problem}.`)
      reported.clear()
      for (const problem of failed.keys()) reported.add(problem)
      failed.clear()
    },
  }
}

interface PingOptions {
  readonly outgoing: Pick<Outgoing, 'post' | 'secret' | 'addressMistake'>
  /** Prints a warning. */
  readonly log: (line: string) => void
  /** Why pings did not arrive the last time: that is not said again. */
  readonly reported?: Set<string> | undefined
}

/** What kept a ping from arriving; null where it arrived. */
async function send(
  urlEnv: string,
  event: PingEvent,
  body: string,
  outgoing: PingOptions['outgoing'],
): Promise<string | null> {
  const address = addressIn(urlEnv, outgoing)
  if ('missing' in address) return address.missing.replace(/\.$/, '')
  const url = new URL(address.url)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${pathOf[event]}`
  const result = await outgoing.post({
    url: url.href,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: cutToBytes(body, longestBody),
    timeoutMs,
  })
  const reason = 'error' in result ? result.error : result.status >= 300 ? `HTTP ${result.status}` : null
  return reason === null ? null : `${reason}. Check the address in ${urlEnv}`
}

/** So many bytes of UTF-8 at most, of whole characters. */
export function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most
  // A byte 10xxxxxx goes on with a character that began before it.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** What a switch is told of an error: only what was foreseen is sure to hold no secret. */
export function reasonOf(error: unknown): string {
  if (error instanceof RanklineError) return error.message
  return `rankline failed: internal error (${error instanceof Error ? error.name : 'unknown'})`
}

/** Tells the switches of job files why nothing was run, as far as these files can be read. */
async function pingNotStarted(
  notRun: readonly { readonly file: string; readonly reason: string }[],
  options: PingOptions,
): Promise<void> {
  if (notRun.length === 0) return
  const { readPing } = await import('../../jobfile/peek.ts')
  const sender = pinger(options)
  await Promise.all(notRun.map(({ file, reason }) => sender.send(readPing(file), 'fail', reason)))
  sender.sayFailed()
}

/** Sends the start pings of these jobs; nothing waits for that. */
function pingStarts(jobs: readonly PingedJob[], options: PingOptions) {
  const sender = pinger(options)
  const open = new Map(jobs.filter(({ ping }) => ping != null).map((job) => [job.name, job]))
  const started = Promise.all([...open.values()].map((job) => sender.send(job, 'start', '')))
  const end = async (name: string, event: PingEvent, summary: () => Promise<string>): Promise<void> => {
    const job = open.get(name)
    open.delete(name)
    if (job !== undefined) await sender.send(job, event, await summary())
  }
  return {
    /** Sends how these runs ended. */
    ended: async (
      ends: readonly {
        readonly job: string
        readonly isGood: boolean
        /** What came of it, for people. */
        readonly summary: () => Promise<string>
      }[],
    ): Promise<void> => {
      await started
      await Promise.all(
        ends.map(({ job, isGood, summary }) => end(job, isGood ? 'success' : 'fail', summary)),
      )
      sender.sayFailed()
    },
    /** Sends that all runs failed whose end was not sent. */
    failed: async (reason: string): Promise<void> => {
      await started
      await Promise.all([...open.keys()].map((name) => end(name, 'fail', async () => reason)))
      sender.sayFailed()
    },
  }
}

/** Pings to dead man's switches. */
export const pings = {
  starts: pingStarts,
  notStarted: pingNotStarted,
}
