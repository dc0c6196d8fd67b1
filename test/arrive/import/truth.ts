import { addDays } from '../../../src/model/time.ts'

/** What really was on a day: a failed check says nothing, and a day without a check is in no file. */
export type TrueDay =
  | {
      readonly state: 'ranked'
      readonly rank: number
      readonly url: string
      /** The other results of its page, where they matter. */
      readonly others?: readonly string[]
    }
  | { readonly state: 'absent' | 'failed' | 'unchecked' }

/** A keyword of the world that the samples are made of. */
export interface TrueHistory {
  readonly text: string
  readonly country: 'us' | 'de'
  readonly days: ReadonlyMap<string, TrueDay>
}

export const target = 'acme.com'
export const firstDay = '2025-12-28'

/** Numbers between 0 and 1, the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const someTexts = [
  'standing desk',
  'desk, "tall"',
  'schreibtisch höhe',
  "O'Neill desk",
  '=cmd|desk',
  'desk\\lamp',
]

/**
 * Keywords in two markets over some weeks from the end of a year on, with failed checks, days without a check, absences, and a keyword
 * that was never checked.
 */
export function trueHistories(
  days = 20,
  texts: readonly string[] = someTexts,
  seed = 7,
): readonly TrueHistory[] {
  const next = numbers(seed)
  return texts.flatMap((text) =>
    (['us', 'de'] as const).map((country) => {
      const isChecked = text !== texts[1] || country !== 'de'
      const all = Array.from({ length: days }, (_, index): [string, TrueDay] => {
        const draw = next()
        const rank = 1 + Math.floor(next() * 60)
        const url = `https://www.acme.com/${country}/a,b?q=1,${Math.floor(next() * 4)}`
        const day = addDays(firstDay, index)
        if (!isChecked || draw < 0.1) return [day, { state: 'unchecked' }]
        if (draw < 0.25) return [day, { state: 'failed' }]
        return [day, draw < 0.4 ? { state: 'absent' } : { state: 'ranked', rank, url }]
      })
      return { text, country, days: new Map(all) }
    }),
  )
}

/** A day as some tools write it: `2026-1-5`. */
export function unpadded(day: string): string {
  return day.replace(/-0/g, '-')
}
