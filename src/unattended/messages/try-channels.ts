import { randomUUID } from 'node:crypto'
import { UsageError } from '../../model/errors.ts'
import type { AlertNews } from '../../model/settings/alert.ts'
import type { Channel, Workspace } from '../../model/settings/workspace.ts'
import { closestMatch } from '../../model/text.ts'
import type { Clock } from '../../model/time.ts'
import type { Outgoing } from '../../run/outgoing.ts'
import type { ChannelMessage } from '../channels/channel.ts'

/** How the sample fared on one channel. */
export interface ChannelTry {
  readonly channel: string
  readonly type: Channel['type']
  readonly delivered: boolean
  /** Why it was not delivered, or what must be said although it was; null where all went well. */
  readonly reason: string | null
}

/** How long each channel may take. */
const longestMs = 10_000

/** Sends a sample through one channel of a workspace, or through all of them; nothing is stored. */
export async function tryChannels(
  workspace: Workspace,
  named: string | undefined,
  outgoing: Outgoing,
  clock: Pick<Clock, 'wall'>,
): Promise<readonly ChannelTry[]> {
  const chosen = chosenChannels(workspace, named)
  const { openChannel } = await import('../channels/index.ts')
  const around = { ...outgoing, folder: workspace.folder, now: clock.wall }
  const tries = chosen.map(async ([channel, settings]): Promise<ChannelTry> => {
    const { type } = settings
    const opened = openChannel(settings, around)
    if ('missing' in opened) return { channel, type, delivered: false, reason: opened.missing }
    const result = await opened.send(sample(channel, clock.wall()), longestMs)
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
