import type { AlertMessage, AlertNews, AlertRule } from '../model/alert.ts'

/** An alert as it is told, with the channels that its rule names. */
export interface ToldAlert {
  readonly to: AlertRule['to']
  readonly news: AlertNews
}

/** A message with the name of its channel. */
export interface ChannelMessage {
  readonly channel: string
  readonly message: AlertMessage
}

/**
 * One message for each channel that has something to tell: what begins first, then what is over. A rule without names goes to all
 * channels of the workspace. A message to one that it does not have waits until it has.
 */
export function messagesOf(
  told: readonly ToldAlert[],
  { job, run, channels }: Pick<AlertMessage, 'job' | 'run'> & { readonly channels: readonly string[] },
): readonly ChannelMessage[] {
  return [...new Set([...channels, ...told.flatMap(({ to }) => to ?? [])])].flatMap((channel) => {
    const news = told.flatMap(({ to, news }) =>
      (to === null ? channels.includes(channel) : to.includes(channel)) ? [news] : [],
    )
    if (news.length === 0) return []
    const alerts = (['open', 'over'] as const).flatMap((state) => news.filter((one) => one.state === state))
    return [{ channel, message: { job, run, alerts } }]
  })
}
