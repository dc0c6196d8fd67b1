/** The shape of a JSON value: what it has to be, and nothing beside it. */
export type Shape =
  | keyof typeof kinds
  | { readonly orNull: Shape }
  | { readonly list: Shape }
  | { readonly values: Shape }
  | { readonly anyOf: readonly Shape[] }
  | { readonly only: readonly unknown[] }
  | { readonly fields: Fields; readonly optional?: Fields }

type Fields = Readonly<Record<string, Shape>>

const kinds = {
  text: (value: unknown) => typeof value === 'string',
  boolean: (value: unknown) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  url: (value: unknown) => typeof value === 'string' && URL.canParse(value),
  date: (value: unknown) => typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value),
}

/** Where a value differs from its shape, one line for each place; empty where it does not. */
export function differences(shape: Shape, value: unknown, at = 'answer'): readonly string[] {
  if (typeof shape === 'string') return kinds[shape](value) ? [] : [`${at} is no ${shape}`]
  if ('orNull' in shape) return value === null ? [] : differences(shape.orNull, value, at)
  if ('anyOf' in shape) {
    const tried = shape.anyOf.map((one) => differences(one, value, at))
    return tried.some((found) => found.length === 0) ? [] : tried.flat()
  }
  if ('only' in shape) return shape.only.includes(value) ? [] : [`${at} cannot be ${JSON.stringify(value)}`]
  if ('list' in shape) {
    if (!Array.isArray(value)) return [`${at} is no list`]
    return value.flatMap((item, index) => differences(shape.list, item, `${at}[${index}]`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at} is no object`]
  if ('values' in shape)
    return Object.entries(value).flatMap(([name, item]) => differences(shape.values, item, `${at}.${name}`))
  const { fields, optional = {} } = shape
  const known: Fields = { ...fields, ...optional }
  const missing = Object.keys(fields).filter((name) => !(name in value))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, item]) =>
      known[name] === undefined
        ? [`${at}.${name} is not documented`]
        : differences(known[name], item, `${at}.${name}`),
    ),
  ]
}

/** The shape of what an object holds under that name; throws where it is no object or has no such field. */
export function fieldOf(shape: Shape, name: string): Shape {
  if (typeof shape !== 'object' || !('fields' in shape)) throw new Error(`no object has a field '${name}'`)
  const found = shape.fields[name] ?? shape.optional?.[name]
  if (found === undefined) throw new Error(`no field is called '${name}'`)
  return found
}
