/** What interrupts one process, and when. */
export type Interruption =
  /** Stopped in order, or killed. */
  | { readonly how: 'stop' | 'crash'; readonly at: AtCommit | AtExchange }
  /** So many commits fail, for the disk is full. */
  | { readonly how: 'full'; readonly at: { readonly commit: number; readonly times: number } }

interface AtCommit {
  /** So many commits after the start, or after so many exchanges that ended otherwise than with a 200. */
  readonly commit: number
  readonly trouble: number
  /** Whether that commit is there after a crash. */
  readonly keeps: boolean
}

interface AtExchange {
  readonly exchange: number
  readonly moment: 'before' | 'sent' | 'answered'
}

/** What becomes of a commit: it is made, it is made and the last thing that happens, it is lost, or it fails. */
export type CommitEnd = 'made' | 'last' | 'lost' | 'failed'

/** Counts what happens, and tells when it is time. */
export function countdown(interruption: Interruption | null) {
  let commits = 0
  let exchanges = 0
  /** Commits since the start, since the first trouble, since the second and so on. */
  const commitsAfter = [0]
  const countCommit = (): void => {
    commits += 1
    for (const [trouble, count] of commitsAfter.entries()) commitsAfter[trouble] = count + 1
  }

  return {
    commit: (): CommitEnd => {
      countCommit()
      if (interruption === null) return 'made'
      const { how, at } = interruption
      if (how === 'full') return commits >= at.commit && commits < at.commit + at.times ? 'failed' : 'made'
      if ('exchange' in at || commitsAfter[at.trouble] !== at.commit) return 'made'
      return how === 'stop' || at.keeps ? 'last' : 'lost'
    },
    /** At which moment of the exchange that begins now. */
    exchange: (): AtExchange['moment'] | null => {
      exchanges += 1
      if (interruption === null || !('exchange' in interruption.at)) return null
      return interruption.at.exchange === exchanges ? interruption.at.moment : null
    },
    trouble: (): void => {
      commitsAfter.push(0)
    },
  }
}
