import { UsageError } from '../errors.ts'
import type { BuiltHistory } from '../report/build-history.ts'
import { compact } from '../report/compact.ts'
import { filterHistory } from '../report/filter-history.ts'
import type { RankHistory } from '../report/rank-history.ts'
import { harmless } from '../terminal.ts'
import { nearest } from '../words.ts'

/** Of which keywords and targets a report is to be; each list is "any of these". */
export interface WantedOnly {
  readonly tags?: readonly string[] | undefined
  /** Labels of targets. */
  readonly targets?: readonly string[] | undefined
}

/**
 * A history of what is wanted and nothing else. Throws a sentence where no keyword has such a tag, or no target such a name.
 *
 * What the job no longer asks is not told: its tags are not known.
 */
export function wantedOf(built: BuiltHistory, { tags = [], targets = [] }: WantedOnly): BuiltHistory {
  if (tags.length === 0 && targets.length === 0) return built
  const { history } = built
  refuseUnknown('--tag', tags, tagsOf(history), `No keyword of ${history.job} has the tag`)
  refuseUnknown(
    '--target',
    targets,
    history.targets.map(({ label }) => label),
    `${history.job} tracks no target`,
  )
  return compact({ ...built, history: filterHistory(history, { tags, targets }), removedTargets: 0 })
}

function tagsOf({ keywords }: RankHistory): readonly string[] {
  return [...new Set(keywords.flatMap(({ tags }) => tags))].sort()
}

/** Names that a sentence lists at most. */
const listed = 10

function refuseUnknown(
  flag: string,
  wanted: readonly string[],
  known: readonly string[],
  nothing: string,
): void {
  const unknown = wanted.find((one) => !known.includes(one))
  if (unknown === undefined) return
  const near = nearest(unknown, known) ?? known.find((one) => one.includes(unknown)) ?? null
  const names = known.slice(0, listed).map(harmless).join(', ')
  const hint =
    near !== null
      ? `Did you mean ${flag} '${harmless(near)}'?`
      : known.length === 0
        ? `Leave ${flag} out`
        : `Write one of ${names}${known.length > listed ? ', …' : ''}`
  throw new UsageError(`${nothing} '${harmless(unknown)}'. ${hint}`)
}
