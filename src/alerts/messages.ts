import type { AlertMessage, AlertNews } from '../model/alert.ts'
import type { Change } from './rules/evaluate.ts'

/** A message with the name of its channel. */
export interface ChannelMessage {
  readonly channel: string
  readonly message: AlertMessage
}

/**
 * One message for each channel that a rule names: what begins first, then what is over. A rule without names goes to all channels;
 * one that the workspace no longer has is left out.
 */
export function messagesOf(
  changes: readonly Change[],
  { job, run, channels }: Pick<AlertMessage, 'job' | 'run'> & { readonly channels: readonly string[] },
): readonly ChannelMessage[] {
  return channels.flatMap((channel) => {
    const told = changes.filter(({ rule: { to } }) => to?.includes(channel) ?? true)
    if (told.length === 0) return []
    const alerts = (['open', 'over'] as const).flatMap((state) => told.filter((one) => one.state === state))
    return [{ channel, message: { job, run, alerts: alerts.map(newsOf) } }]
  })
}

function newsOf({ id, rule, state, query, target, before, now, text }: Change): AlertNews {
  return { id, when: rule.when, state, query: query?.text ?? null, target, before, now, text }
}
