import { expect } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { type Answer, get, type Params, post } from '../sandbox/ask.ts'
import type { DocumentedCall } from './interface.ts'
import { failure } from './lookup-answers.ts'
import { differences } from './shape.ts'

/** Sends a documented call in its style, with the key of the sandbox. */
export function send(sandbox: Sandbox, { style, path }: DocumentedCall, params: Params): Promise<Answer> {
  return style === 'post' ? post(sandbox, path, params) : get(sandbox, path, params)
}

/** The documented words of each error status; null where the document shows none. */
export const messages = {
  400: /^Bad Request\b/,
  401: /^Invalid API Key$/,
  402: /^Payment required$/,
  403: null,
  404: null,
  413: null,
  500: /^Internal Error$/,
  503: null,
} as const

export const rateMessage = 'Rate limit exceeded for the API key: quota monthly'

/** Expects a refusal with that status, the documented JSON body, and the documented words. */
export function expectRefused({ status, body, headers }: Answer, wanted: keyof typeof messages): void {
  expect([status, differences(failure, body)]).toEqual([wanted, []])
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  const words = messages[wanted]
  if (words !== null) expect(body.error).toMatch(words)
}
