/** How a call is made: newer style `get` (query string) or older style `post` (JSON body). */
export type Style = 'get' | 'post'

/** One parameter of an operation, as the service documents it. */
export interface Param {
  readonly type: 'string' | 'number' | 'integer'
  readonly meaning: string
  readonly required?: true
  /** The service's default, for documentation: rankline never sends a default. */
  readonly default?: string | number
  /** The only values allowed. */
  readonly values?: readonly string[]
  /** Form of a string value, with the words that explain it. */
  readonly pattern?: { readonly regexp: RegExp; readonly words: string }
  /** Why a value of that form means nothing, and what to do instead; null where it means something. The service may not mind. */
  readonly unknownCode?: (text: string) => string | null
  readonly min?: number
  readonly max?: number
  /** Styles that have the parameter; all of the operation's styles where not given. */
  readonly styles?: readonly Style[]
  /** The service may take another value, and say so. */
  readonly suggestion?: true
}

export type ParamValue = string | number

/** A checked value, or what is wrong with it and what to write instead. */
export type Checked = { readonly value: ParamValue } | { readonly problem: string }

/** Reads the text that a user wrote as a value of the parameter. */
export function checkParam(param: Param, text: string): Checked {
  if (text === '') return { problem: 'is empty; give it a value or leave it out' }
  if (param.type !== 'string') return checkNumber(param, text)
  if (param.values !== undefined && !param.values.includes(text))
    return { problem: `cannot be '${text}'; write one of ${param.values.join(', ')}` }
  if (param.pattern !== undefined && !param.pattern.regexp.test(text))
    return { problem: `cannot be '${text}'; write ${param.pattern.words}` }
  return { value: text }
}

function checkNumber(param: Param, text: string): Checked {
  const words = numberWords(param)
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return { problem: `cannot be '${text}'; write ${words}` }
  const value = Number(text)
  const fits =
    (param.type === 'number' || Number.isSafeInteger(value)) &&
    value >= (param.min ?? Number.NEGATIVE_INFINITY) &&
    value <= (param.max ?? Number.POSITIVE_INFINITY)
  return fits ? { value } : { problem: `cannot be ${text}; write ${words}` }
}

function numberWords({ type, min, max }: Param): string {
  const noun = type === 'integer' ? 'a whole number' : 'a number'
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}`
  return min === undefined ? noun : `${noun} from ${min} up`
}
