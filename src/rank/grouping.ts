/** How many of their first ten results keywords share that one page can serve, where nothing else is said. */
export const usualShare = 4

/** A keyword as clusters are made of it. */
export interface Clusterable {
  /** Keywords of different markets share nothing. */
  readonly market: string
  readonly text: string
  readonly volume: number | null
  /** Numbers of the pages among its first results, each once. */
  readonly links: readonly number[]
}

/**
 * Groups keywords that one page can serve. By descending volume each one joins the largest head of its market with which it shares
 * enough pages, else it becomes a head. It is compared with heads alone, so that no chain connects what shares nothing.
 *
 * Heads are found by the pages that they show, so that pairs that share nothing cost nothing.
 */
export function groupKeywords(keywords: readonly Clusterable[], least: number) {
  const order = Int32Array.from(keywords.keys()).sort((a, b) =>
    compared(keywords[a] as Clusterable, keywords[b] as Clusterable),
  )
  const heads = new Int32Array(keywords.length)
  const shared = new Uint8Array(keywords.length)
  const counts = new Int32Array(keywords.length)
  const index = headIndex(keywords.reduce((sum, { links }) => sum + links.length, 0))
  const found: number[] = []
  let market: string | null = null
  for (const [rank, place] of order.entries()) {
    const keyword = keywords[place] as Clusterable
    if (keyword.market !== market) index.clear()
    market = keyword.market
    for (const link of keyword.links)
      for (let at = index.first(link); at !== none; at = index.next(at)) {
        const head = index.head(at)
        if (counts[head] === 0) found.push(head)
        counts[head] = (counts[head] as number) + 1
      }
    // Heads stand in their order: the first one is the largest.
    let largest = rank
    for (const head of found) if ((counts[head] as number) >= least && head < largest) largest = head
    heads[place] = order[largest] as number
    shared[place] = largest === rank ? keyword.links.length : (counts[largest] as number)
    if (largest === rank) index.add(rank, keyword.links)
    for (const head of found) counts[head] = 0
    found.length = 0
  }
  return {
    /** The place of the head of its cluster, which is its own where it is the head. */
    heads,
    /** How many pages it shares with that head. */
    shared,
    /** All places, market by market, the most searched first: heads come before those who join them. */
    order,
  }
}

function compared(a: Clusterable, b: Clusterable): number {
  if (a.market !== b.market) return a.market < b.market ? -1 : 1
  const [volume, other] = [a.volume ?? -1, b.volume ?? -1]
  if (volume !== other) return other - volume
  return a.text === b.text ? 0 : a.text < b.text ? -1 : 1
}

const none = -1

/** Which heads show a page: a list for each link, of which the newest head comes first. */
function headIndex(size: number) {
  const firsts = new Map<number, number>()
  const [headOf, after] = [new Int32Array(size), new Int32Array(size)]
  let used = 0
  return {
    first: (link: number): number => firsts.get(link) ?? none,
    next: (at: number): number => after[at] as number,
    head: (at: number): number => headOf[at] as number,
    add: (head: number, links: readonly number[]): void => {
      for (const link of links) {
        headOf[used] = head
        after[used] = firsts.get(link) ?? none
        firsts.set(link, used)
        used += 1
      }
    },
    clear: (): void => {
      firsts.clear()
      used = 0
    },
  }
}
