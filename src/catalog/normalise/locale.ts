import { type Fields, text } from './fields.ts'

/** In which words an answer was asked for; null where that was left to the service. */
export interface Locale {
  /** Code as it was asked for, such as `de`, `pt-BR` or `en-US`. */
  readonly language: string | null
  /** Two letters. */
  readonly country: string | null
}

/** What must be known of an answer to read its dates and numbers. */
export interface ReadingContext extends Locale {
  /** Epoch ms; ages count back from then. */
  readonly fetchedAt: number
}

/** The locale that the parameters of a call ask for, or those that an answer repeats. */
export function localeOf(params: Fields): Locale {
  const market = text(params.mkt)
  return {
    language: text(params.hl) ?? market,
    country: text(params.gl) ?? text(params.cc) ?? market?.match(/-([a-z]{2})$/i)?.[1] ?? null,
  }
}

/** A context that takes from the echo of an answer what the call left open. */
export function completed(context: ReadingContext, echo: Fields | null): ReadingContext {
  const { language, country } = localeOf(echo ?? {})
  return { ...context, language: context.language ?? language, country: context.country ?? country }
}
