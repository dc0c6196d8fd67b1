import type { Understood } from '../model/result.ts'
import { holderOf } from './async-job.ts'
import { asFields, type Fields } from './normalise/fields.ts'
import { parseJson } from './normalise/json.ts'
import { listedItems } from './normalise/listed.ts'
import type { ReadingContext } from './normalise/locale.ts'
import type { BillableOperation } from './operation.ts'

/** Raised with every change of a normaliser, so that results derived by an older one can be told. */
export const normaliserVersion = 3

/** Why a body is no answer: one sentence for people. */
export interface NotUnderstood {
  readonly reason: string
}

/**
 * Results and facts of a stored body. A list of results that is missing, null or an empty object counts as empty
 * where anything else of the documented answer is there; a body that shares nothing with it is no answer.
 */
export function understand(
  operation: BillableOperation,
  body: Buffer,
  context: ReadingContext,
): Understood | NotUnderstood {
  const json = parseJson(body)
  if (json === undefined) return { reason: `the answer is no JSON (${excerpt(body)})` }
  const fields = unwrapped(operation, asFields(json))
  if (fields === null) return { reason: `the answer is no JSON object (${excerpt(body)})` }
  const { items, required } = operation.response
  const listed = isNothing(fields[items]) ? null : listedItems(fields[items], operation.response)
  if (listed === null && !isNothing(fields[items])) return { reason: `'${items}' of the answer is no list` }
  if (listed === null && !required.some((name) => name !== items && fields[name] != null))
    return { reason: `the answer has no '${items}' (${excerpt(body)})` }
  return operation.normalise({ ...fields, [items]: listed ?? [] }, context)
}

/** Where lists come as objects, an empty one does, too. */
function isNothing(value: unknown): boolean {
  return value == null || Object.keys(asFields(value) ?? { something: value }).length === 0
}

/** What polling answers may be wrapped; the answer of a call never is. */
function unwrapped({ asyncParam, response }: BillableOperation, fields: Fields | null): Fields | null {
  if (asyncParam === undefined || fields === null) return fields
  return holderOf(fields, response.items) ?? fields
}

function excerpt(body: Buffer): string {
  if (body.length === 0) return 'it is empty'
  const page = body.toString('utf8', 0, 4_096)
  if (/^\s*<(?:!doctype html|html)\b/i.test(page)) return htmlPage(page)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const start = body.toString('utf8', 0, 80).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return `it begins: ${start.trim()}`
}

/** An HTML page, for instance of a login: its title says most of it. */
function htmlPage(html: string): string {
  const title = html.match(/<(?:title|h1)[^>]*>([^<]+)</i)?.[1]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const words = title?.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim()
  return words === undefined || words === ''
    ? 'an HTML page'
    : `an HTML page '${words.slice(0, 80).toWellFormed()}'`
}
