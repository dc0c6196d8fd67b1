/** What a server does with a connection; it travels in the path of each request. */
export interface ServerConduct {
  /** It closes a connection that was idle for so long. */
  readonly idleMs: number
  /** The N of the `Keep-Alive: timeout=N` that it sends. */
  readonly hintSeconds: number | null
  /** What everything takes on its way, either way: requests, answers and the end of a connection. */
  readonly delayMs: number
  readonly answerMs: number
}

export function pathOf({ idleMs, hintSeconds, delayMs, answerMs }: ServerConduct): string {
  return `/${[idleMs, hintSeconds ?? '-', delayMs, answerMs].join('/')}`
}

export function readConduct(request: string): ServerConduct {
  const [idleMs, hint, delayMs, answerMs] = request.split(' ')[1]?.split('/').slice(1) ?? []
  return {
    idleMs: Number(idleMs),
    hintSeconds: hint === '-' ? null : Number(hint),
    delayMs: Number(delayMs),
    answerMs: Number(answerMs),
  }
}
