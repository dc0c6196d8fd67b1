/** Status and JSON of an answer. */
export interface Reply {
  readonly status: number
  readonly body: unknown
}

const messages: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Invalid API Key',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  500: 'Internal Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

/** What the service says of every limit, whichever it was. */
export const rateMessage = 'Rate limit exceeded for the API key: quota monthly'

/** The documented error body of a status. */
export function errorReply(status: number, message = messages[status] ?? 'Error'): Reply {
  return { status, body: { error: message } }
}

/** 400 with the reason behind the documented message. */
export function badRequest(reason: string): Reply {
  return errorReply(400, `Bad Request: ${reason}`)
}
