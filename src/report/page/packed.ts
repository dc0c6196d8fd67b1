import type { PageData, Serp, SerpResult } from './data.ts'

/** Title, link and site of a result as places in their lists, and its targets. */
type PackedResult = SerpResult extends readonly [number, ...infer Rest] ? Readonly<Rest> : never

/** The content of the HTML report as it stands in the file: most results stay from day to day, so each stands there once. */
export interface PackedPage extends Omit<PageData, 'serps'> {
  readonly results: readonly PackedResult[]
  /**
   * Keyword, day and depth, then the place of each result, from rank 1 on. A rank that does not follow the one before stands before
   * its result, as a negative number.
   */
  readonly serps: readonly (readonly number[])[]
}

export function packed({ serps, ...page }: PageData): PackedPage {
  const results: PackedResult[] = []
  const known = new Map<string, number>()
  const placeOf = (result: PackedResult): number => {
    const key = JSON.stringify(result)
    const place = known.get(key) ?? results.push(result) - 1
    known.set(key, place)
    return place
  }
  return {
    ...page,
    serps: serps.map(({ keyword, day, depth, results: own }) => {
      let last = 0
      const places = own.flatMap(([rank, ...result]) => {
        const isNext = rank === last + 1
        last = rank
        return isNext ? [placeOf(result)] : [-rank, placeOf(result)]
      })
      return [keyword, day, depth, ...places]
    }),
    results,
  }
}

export function unpacked({ serps, results, ...page }: PackedPage): PageData {
  return {
    ...page,
    serps: serps.map(([keyword = 0, day = 0, depth = 0, ...places]): Serp => {
      const own: SerpResult[] = []
      let rank = 0
      for (const place of places)
        if (place < 0) rank = -place - 1
        else own.push([++rank, ...(results[place] as PackedResult)])
      return { keyword, day, depth, results: own }
    }),
  }
}
