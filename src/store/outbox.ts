import type { AlertMessage } from '../model/settings/alert.ts'

/** What a message tells. Each channel writes it in its own form. */
export type MessageContent =
  | { readonly kind: 'alerts'; readonly message: AlertMessage }
  | { readonly kind: 'digest'; readonly message: DigestMessage }
  | { readonly kind: 'report'; readonly message: ReportMessage }

/** The figures of a week as messages tell them. */
export interface DigestMessage {
  readonly job: string
  /** Local day that the figures are of, and the one that they are compared with; null where nothing is stored yet. */
  readonly date: string | null
  readonly comparedWith: string | null
  /** One section for each own target, then one of the whole job, unless it is for a client. */
  readonly sections: readonly DigestSection[]
}

export interface DigestSection {
  readonly title: string
  readonly lines: readonly DigestLine[]
}

/** A digest as mail: the report of the job, as it was when the message was put in. */
export interface ReportMessage {
  readonly job: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** PNG pictures of the HTML in base64, by the names that `cid:` addresses give them. */
  readonly pictures: Readonly<Record<string, string>>
}

/** One figure in words, for instance `Visibility`, `42.0%`, `▲ 1.3`. */
export interface DigestLine {
  readonly label: string
  readonly value: string
  /** Against the compared day; null where nothing can be compared. */
  readonly change: string | null
}

/** A message to one channel. */
export type NewMessage = MessageContent & {
  /** The same message is put in once per channel, for instance `alerts:run 12:mail`. */
  readonly identity: string
  /** Name of the channel in the workspace file. */
  readonly channel: string
  readonly job: string
  readonly runId: number | null
}

export type MessageState = 'waiting' | 'sent' | 'dead'

/** A message of the outbox. Instants are epoch milliseconds. */
export type OutboxMessage = NewMessage & {
  readonly id: number
  readonly createdAt: number
  readonly state: MessageState
  /** How often a process has begun to send it. */
  readonly attempts: number
  /** Not tried again before this instant. */
  readonly nextTryAt: number
  /** Why it was not sent the last time; null where it was not tried, or was sent. */
  readonly lastError: string | null
  readonly sentAt: number | null
}

/** How a try ended. */
export type TryResult =
  | { readonly state: 'sent'; readonly at: number }
  | { readonly state: 'waiting'; readonly nextTryAt: number; readonly error: string }
  | { readonly state: 'dead'; readonly error: string }
