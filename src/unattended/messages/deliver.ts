import { createHash, randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { RanklineError, UsageError } from '../../model/errors.ts'
import { noFile } from '../../model/job.ts'
import type { AlertMessage, AlertNews, Channel, Workspace } from '../../model/settings.ts'
import { closestMatch, count, duration } from '../../model/text.ts'
import { type Clock, dayMs, hourMs } from '../../model/time.ts'
import type { Outgoing } from '../../run/app.ts'
import { workspaces } from '../../run/job-files.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { OutboxMessage } from '../../store/sqlite/unattended/outbox.ts'
import type { ChannelMessage, Send, Sent } from '../channels/index.ts'

interface Delivery {
  readonly store: Store & Pick<Store, 'jobFile'>
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  readonly outgoing: Outgoing
  /** Prints a warning. */
  readonly log: (line: string) => void
}

/** How long messages may delay the end of a run, all together. */
const longestMs = 10_000
/** How long one try may take. */
const longestTryMs = 8_000
/** With less time left than this, no try begins. */
const shortestTryMs = 1_000
/** Another process leaves a message alone so long after this one took it. */
const claimMs = 60_000
/** What cannot be tried, for its channel is not set up, waits as long as that. */
const patienceMs = 30 * dayMs

/**
 * Sends what waits in the outbox and is due, each message to its channel, all channels at the same time. Nothing is lost: what
 * was not delivered stays for the next call, by whatever process. Never takes longer than about ten seconds.
 */
export async function deliver(delivery: Delivery): Promise<void> {
  const { store, clock } = delivery
  const due = await store.dueMessages(clock.wall())
  if (due.length === 0) return
  const until = clock.monotonic() + longestMs
  const backlogs = await byChannel(due, delivery)
  await Promise.all(backlogs.map((backlog) => sendAll(backlog, delivery, until)))
}

type ChannelBacklog = Awaited<ReturnType<typeof byChannel>>[number]

/** Messages to each channel of one folder, the oldest first. The channels of a job are those of the workspace that its file is in. */
async function byChannel(due: readonly OutboxMessage[], { store, log }: Delivery) {
  const openings = new Map<string, ReturnType<typeof openOrSay>>()
  const backlogs = new Map<
    string,
    {
      readonly channel: string
      readonly workspace: Pick<Workspace, 'folder' | 'channels'>
      readonly messages: OutboxMessage[]
    }
  >()
  for (const message of due) {
    const file = (await store.jobFile(message.job)) ?? noFile
    const folder = file === noFile ? '.' : dirname(file)
    const opening = openings.get(folder) ?? openOrSay(store, file, log)
    openings.set(folder, opening)
    const workspace = await opening
    if (workspace === null) continue
    const key = JSON.stringify([workspace.folder, message.channel])
    const backlog = backlogs.get(key) ?? { channel: message.channel, workspace, messages: [] }
    backlogs.set(key, backlog)
    backlog.messages.push(message)
  }
  return [...backlogs.values()]
}

async function openOrSay(
  store: Store,
  file: string,
  log: Delivery['log'],
): Promise<Pick<Workspace, 'folder' | 'channels'> | null> {
  try {
    return await knownChannels(store, file)
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    log(`Messages wait for the channels of their workspace: ${error.message}`)
    return null
  }
}

async function sendAll(backlog: ChannelBacklog, delivery: Delivery, until: number): Promise<void> {
  const { clock } = delivery
  const opened = await open(backlog, delivery)
  if ('missing' in opened) return await letWait(backlog, opened.missing, delivery)
  for (const message of backlog.messages) {
    // Sockets take whole milliseconds only.
    const timeoutMs = Math.min(longestTryMs, Math.floor(until - clock.monotonic()))
    if (timeoutMs < shortestTryMs) return
    const now = clock.wall()
    if (!(await delivery.store.claimMessage(message, now, now + claimMs))) continue
    const goesOn = await settle(message, await trySending(opened.send, message, timeoutMs), delivery)
    // What does not answer now would only use up the time of the others, and the tries of these messages.
    if (!goesOn) return
  }
}

async function open({ channel, workspace }: ChannelBacklog, { outgoing, clock }: Delivery) {
  const settings = Object.hasOwn(workspace.channels, channel) ? workspace.channels[channel] : undefined
  if (settings === undefined)
    return {
      missing: `it is not in rankline.yaml of ${workspace.folder}. Add it there, or take it out of the job`,
    }
  const { openChannel } = await import('../channels/index.ts')
  return openChannel(settings, { ...outgoing, folder: workspace.folder, now: clock.wall })
}

/** Says once what is missing. What has waited very long is given up: it would be news of last year. */
async function letWait(
  { channel, messages }: ChannelBacklog,
  missing: string,
  { store, clock, log }: Delivery,
): Promise<void> {
  const now = clock.wall()
  let waiting = 0
  for (const message of messages) {
    if (now - message.createdAt < patienceMs) waiting++
    else if (await store.claimMessage(message, now, now + claimMs))
      await store.settleMessage(message, { state: 'dead', error: missing })
  }
  if (waiting > 0)
    log(`Channel ${channel}: ${missing}. ${count(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}.`)
}

async function trySending(send: Send, message: OutboxMessage, timeoutMs: number): Promise<Sent> {
  try {
    return await send({ id: messageId(message), createdAt: message.createdAt, content: message }, timeoutMs)
  } catch (error) {
    // A mistake in a channel of this program must not cost a run its exit code.
    const name = error instanceof Error ? error.name : 'unknown error'
    return {
      ok: false,
      reason: `it failed in an unforeseen way (${name})`,
      retryAfterMs: null,
      isFinal: false,
    }
  }
}

/** The same on every try, and in no other database. */
function messageId({ identity, createdAt }: OutboxMessage): string {
  const digest = createHash('sha256').update(`${identity}\n${createdAt}`).digest('hex')
  return `msg_${digest.slice(0, 32)}`
}

/** Notes how a try ended; answers whether the channel is worth another message now. */
async function settle(
  message: OutboxMessage,
  result: Sent,
  { store, clock, log }: Delivery,
): Promise<boolean> {
  const now = clock.wall()
  const { channel } = message
  if (result.ok) {
    await store.settleMessage(message, { state: 'sent', at: now })
    if (result.remark !== null) log(`Channel ${channel}: ${result.remark}.`)
    return true
  }
  const { reason: error, retryAfterMs, isFinal } = result
  const tries = message.attempts + 1
  const waitMs = isFinal ? null : nextTry(tries, retryAfterMs)
  if (waitMs === null) {
    await store.settleMessage(message, { state: 'dead', error })
    log(`Channel ${channel}: ${about(message)} was given up after ${count(tries, 'try', 'tries')}: ${error}.`)
    return isFinal
  }
  await store.settleMessage(message, { state: 'waiting', nextTryAt: now + waitMs, error })
  const again = waitMs === 0 ? 'next time' : `in ${duration(waitMs / 1000)}`
  log(`Channel ${channel}: ${about(message)} was not delivered: ${error}. It is tried again ${again}.`)
  return false
}

function about({ kind, job, runId, message }: OutboxMessage): string {
  if (kind !== 'alerts') return `the digest of ${job}`
  const { jobs = [] } = (message as AlertMessage).alerts[0] ?? {}
  if (jobs.length > 1) return `the message about ${count(jobs.length, 'job')}`
  return runId === null ? `the alerts of ${job}` : `the message about run ${runId} of ${job}`
}

const minuteMs = 60_000

/**
 * How long a message waits after each failed try: first until the next run or the next check of the scheduler, for most troubles
 * pass; then ever longer. The last waits are shorter than a day, so that a daily run never comes a moment too early.
 */
const waitsMs = [
  0,
  minuteMs,
  10 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
  20 * hourMs,
  20 * hourMs,
  20 * hourMs,
]

/** No receiver may ask for more. */
const longestRequestMs = dayMs

/**
 * How long a message waits after its n-th failed try; null where it is given up, after ten tries in a little over three days.
 *
 * @param askedMs how long the receiver asked to be left alone; null where it did not
 */
export function nextTry(tries: number, askedMs: number | null): number | null {
  const waitMs = waitsMs[tries - 1]
  return waitMs === undefined ? null : Math.max(waitMs, Math.min(askedMs ?? 0, longestRequestMs))
}

/**
 * The channels of the workspace of a job file. While `rankline.yaml` there has mistakes, they are those that it had before: that
 * it has mistakes must be told, too. Commands are not started then: the file may say another one by now.
 */
export async function knownChannels(
  store: Pick<Store, 'lastChannels'>,
  jobFile: string,
): Promise<Pick<Workspace, 'folder' | 'channels'> & { readonly isSound: boolean }> {
  try {
    return { ...(await workspaces.of(jobFile)), isSound: true }
  } catch (error) {
    const folder = workspaces.pathOf(jobFile)
    const last = error instanceof RanklineError ? await store.lastChannels(folder) : null
    if (last === null) throw error
    const safe = Object.entries(last).filter(([, { type }]) => type !== 'exec')
    return { folder, channels: Object.fromEntries(safe), isSound: false }
  }
}

/** How long each channel may take with a sample. */
const longestSampleMs = 10_000

/** Sends a sample through one channel of a workspace, or through all of them, and returns how that ended; nothing is stored. */
export async function tryChannels(
  workspace: Workspace,
  named: string | undefined,
  outgoing: Outgoing,
  clock: Pick<Clock, 'wall'>,
): Promise<
  readonly {
    readonly channel: string
    readonly type: Channel['type']
    readonly delivered: boolean
    /** Why it was not delivered, or a warning although it was; null where all went well. */
    readonly reason: string | null
  }[]
> {
  const chosen = chosenChannels(workspace, named)
  const { openChannel } = await import('../channels/index.ts')
  const around = { ...outgoing, folder: workspace.folder, now: clock.wall }
  const tries = chosen.map(async ([channel, settings]) => {
    const { type } = settings
    const opened = openChannel(settings, around)
    if ('missing' in opened) return { channel, type, delivered: false, reason: opened.missing }
    const result = await opened.send(sample(channel, clock.wall()), longestSampleMs)
    return { channel, type, delivered: result.ok, reason: result.ok ? result.remark : result.reason }
  })
  return await Promise.all(tries)
}

function chosenChannels(
  { channels, folder }: Workspace,
  named: string | undefined,
): readonly (readonly [string, Channel])[] {
  const all = Object.entries(channels)
  if (all.length === 0)
    throw new UsageError(
      `There are no channels in ${folder}. Write them into rankline.yaml there, under channels:`,
    )
  if (named === undefined) return all
  const found = all.filter(([name]) => name === named)
  if (found.length > 0) return found
  const names = all.map(([name]) => name)
  const near = closestMatch(named, names)
  throw new UsageError(
    `There is no channel '${named}' in rankline.yaml. ${near === null ? `Write one of ${names.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

function sample(channel: string, now: number): ChannelMessage {
  const alert: AlertNews = {
    id: '000000000000',
    when: 'drop',
    state: 'open',
    query: 'standing desk',
    target: 'acme.com',
    before: 3,
    now: 9,
    text: `This is a test of the channel ${channel}: nothing has happened`,
    locale: 'en-us',
    tags: ['money'],
    url: 'https://acme.com/desks',
    volume: 2_400,
    clicks: 200,
    there_now: 'rival.com',
  }
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    createdAt: now,
    content: { kind: 'alerts', message: { job: 'test', client: null, run: null, alerts: [alert] } },
  }
}
