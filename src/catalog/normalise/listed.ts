import type { ResponseShape } from '../operation.ts'
import { asFields, list, text } from './fields.ts'

/** Fields without which nothing shows that an object is a result. */
const telling = ['link', 'url']

/** The items that a field of an answer lists, or the only one, where it comes without its list; null where neither can be told. */
export function listedItems(value: unknown, { itemFields }: ResponseShape): readonly unknown[] | null {
  const items = list(value)
  if (items !== null) return items
  const fields = asFields(value) ?? {}
  return telling.some((name) => itemFields.includes(name) && text(fields[name]) !== null) ? [value] : null
}
