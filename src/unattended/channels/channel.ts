import type { Outgoing } from '../../run/outgoing.ts'
import type { MessageContent } from '../../store/outbox.ts'

/** A message as channels send it. */
export interface ChannelMessage {
  /** The same on every try, so that receivers can tell a repetition. */
  readonly id: string
  /** When it was put into the outbox, epoch ms. */
  readonly createdAt: number
  readonly content: MessageContent
}

/** How a try ended. */
export type Sent =
  | {
      readonly ok: true
      /** What must be said all the same, as a clause; null where all went well. */
      readonly remark: string | null
    }
  | {
      readonly ok: false
      /** A clause for people; without any part of an address or of a secret. */
      readonly reason: string
      /** How long the receiver asks to be left alone; null where it does not say. */
      readonly retryAfterMs: number | null
      /** No later try will do better. */
      readonly isFinal: boolean
    }

/** Sends a message once; never rejected. */
export type Send = (message: ChannelMessage, timeoutMs: number) => Promise<Sent>

/** What channels need of the world. */
export interface ChannelContext extends Outgoing {
  /** The folder of the workspace file: paths and commands are relative to it. */
  readonly folder: string
  /** Epoch ms. */
  readonly now: () => number
}

/** A channel that is ready to send, or a sentence that says what is missing. */
export type OpenedChannel = { readonly send: Send } | { readonly missing: string }

/** One type of channel: how it is opened with what the workspace file says of it. */
export type OpenChannel<Settings> = (settings: Settings, around: ChannelContext) => OpenedChannel

/** A try that went well. */
export const sent: Sent = { ok: true, remark: null }

/** A try that failed. */
export function failed(
  reason: string,
  more: { readonly retryAfterMs?: number | null; readonly isFinal?: boolean } = {},
): Sent {
  return { ok: false, reason, retryAfterMs: null, isFinal: false, ...more }
}

/** The message as programs read it: the body of webhooks, a line of files, the standard input of commands. */
export function documentOf({ createdAt, content }: Omit<ChannelMessage, 'id'>) {
  return {
    type: `rankline.${content.kind}`,
    timestamp: new Date(createdAt).toISOString(),
    data: content.message,
  }
}

/** What to do about variables that a channel needs and that are not set. */
export function notSet(variables: readonly string[]): string {
  return variables.length === 1
    ? `${variables[0]} is not set. Set it in the environment or in .env`
    : `${variables.join(' and ')} are not set. Set them in the environment or in .env`
}

/** The address that a variable holds, or a sentence that says why there is none. */
export function addressIn(
  variable: string,
  { secret, addressMistake }: Pick<ChannelContext, 'secret' | 'addressMistake'>,
): { readonly url: string } | { readonly missing: string } {
  const url = secret(variable)
  if (url === undefined) return { missing: notSet([variable]) }
  const mistake = addressMistake(url)
  return mistake === null ? { url } : { missing: `The address in ${variable} ${mistake}` }
}

/** A channel that POSTs JSON to the address in a variable. */
export function postingTo(
  variable: string,
  around: ChannelContext,
  request: (message: ChannelMessage) => Promise<{
    readonly body: string
    readonly headers?: Readonly<Record<string, string>>
  }>,
): OpenedChannel {
  const address = addressIn(variable, around)
  if ('missing' in address) return address
  return {
    send: async (message, timeoutMs) => {
      const { body, headers = {} } = await request(message)
      const result = await around.post({
        url: address.url,
        headers: { 'content-type': 'application/json', ...headers },
        body,
        timeoutMs,
      })
      if ('error' in result) return failed(result.error)
      const { status, retryAfterMs, start } = result
      if (status >= 200 && status < 300) return sent
      if (status >= 300 && status < 400)
        return failed(
          `HTTP ${status}, a redirect, which is not followed: put the address that it leads to into ${variable}`,
        )
      return failed(`HTTP ${status}${knownWord(start)}`, { retryAfterMs, isFinal: status === 410 })
    },
  }
}

/** Slack and others answer a word such as `no_service`; a page or a document may hold anything. */
function knownWord(start: string): string {
  const word = start.trim()
  return /^[a-z][a-z_]{2,40}$/.test(word) ? ` (${word})` : ''
}
