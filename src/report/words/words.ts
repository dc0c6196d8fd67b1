import type { Language } from '../../model/settings.ts'
import { capitalised } from '../../model/text.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { Days, ReportPeriod } from '../history/period.ts'
import { german } from './de/index.ts'
import { english, type Words } from './en/index.ts'

export type { Words }

const byLanguage: Readonly<Record<Language, Words>> = { en: english, de: german }

export function wordsOf(language: Language): Words {
  return byLanguage[language]
}

/** `24 Oct to 20 Nov 2026`; one day alone as `20 November 2026`. */
export function daysInWords(say: Words, { from, until }: Days): string {
  if (from === until) return say.longDay(until)
  const first = from.slice(0, 4) === until.slice(0, 4) ? say.shortDay(from) : say.mediumDay(from)
  return say.period.range(first, say.mediumDay(until))
}

/**
 * What was compared with: `compared with 23 October 2026`. It says so where some keywords were compared with a day nearby, and
 * names the day that was asked for if nothing was checked on it.
 *
 * @param found the days that were compared with, ascending
 */
export function comparisonInWords(say: Words, asked: ComparisonDay | null, found: readonly string[]): string {
  const { compared, notCompared, nearest, askedFor } = say.period
  const [from, until] = [found[0], found.at(-1)]
  if (asked !== null && found.includes(asked.day))
    return `${compared(say.longDay(asked.day))}${found.length > 1 ? ` (${nearest})` : ''}`
  const wanted =
    asked === null ? '' : ` (${askedFor(say.longDay(asked.day), say.counts.days(asked.tolerance))})`
  return from === undefined || until === undefined
    ? `${notCompared}${wanted}`
    : `${compared(daysInWords(say, { from, until }))}${wanted}`
}

/** The period of a report and what its last day is compared with, as a sentence. */
export function periodSentence(say: Words, period: ReportPeriod | null, found: readonly string[]): string {
  const compared = comparisonInWords(say, period?.compare ?? null, found)
  return `${capitalised(period === null ? compared : `${daysInWords(say, period)}, ${compared}`)}.`
}
