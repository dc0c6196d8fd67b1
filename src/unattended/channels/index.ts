import type { Channel } from '../../model/settings/workspace.ts'
import type { ChannelContext, OpenChannel, OpenedChannel } from './channel.ts'
import { openEmail } from './email.ts'
import { openExec, openFile } from './local.ts'
import { openDiscord, openSlack, openTeams, openWebhook } from './webhooks.ts'

type OpenAll = { readonly [Type in Channel['type']]: OpenChannel<Channel & { readonly type: Type }> }

/** Every type of channel. A new one is a file, and its line here. */
const channelTypes = {
  webhook: openWebhook,
  slack: openSlack,
  discord: openDiscord,
  teams: openTeams,
  email: openEmail,
  file: openFile,
  exec: openExec,
} satisfies OpenAll

/** Opens a channel of a workspace file; sends nothing. */
export function openChannel(channel: Channel, around: ChannelContext): OpenedChannel {
  const open = channelTypes[channel.type] as OpenChannel<Channel>
  return open(channel, around)
}
