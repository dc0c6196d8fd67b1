import type { Match, Target } from '../model/target.ts'
import { type Place, quoted, type Report } from './problem.ts'
import { type MatchHints, siteKey, target, type WrittenTarget } from './sites.ts'

/** Targets of one list, as they were written, and where each stands. */
export interface TargetList {
  readonly written: readonly (string | WrittenTarget)[]
  readonly own: boolean
  readonly at: (index: number) => Place
  /** How to name another match in that place. */
  readonly hints: MatchHints
}

/** How to name another match in a file. */
export const inFile: MatchHints = {
  beyond: 'write { site: …, match: prefix } or match: url',
  page: 'write { site: …, match: url }',
}

/** The checked targets of a job or of a query; repetitions are left out, contradictions are reported. */
export function readTargets(
  lists: readonly TargetList[],
  match: Match | undefined,
  report: Report,
): readonly Target[] {
  const targets = new Map<string, Target>()
  const owners = new Map<string, boolean>()
  const labels = new Map<string, string>()
  for (const { written, own, at, hints } of lists)
    for (const [index, entry] of written.entries()) {
      const read = target(typeof entry === 'string' ? { site: entry } : entry, own, match ?? 'domain', hints)
      if (!('value' in read)) {
        report({ ...at(index), what: read.what, instead: read.instead })
        continue
      }
      const { site, label, also } = read.value
      const plain = siteKey(site)
      const key = `${[read.value.match, ...also]} ${plain}`
      if (owners.get(plain) === !own)
        report({
          ...at(index),
          what: `${quoted(site)} is a target, too`,
          instead: 'keep it in one of the lists',
        })
      else if (!targets.has(key) && labels.has(label))
        report({
          ...at(index),
          what: `two targets are called ${quoted(label)}`,
          instead: 'give each a label of its own',
        })
      else if (!targets.has(key)) targets.set(key, read.value)
      owners.set(plain, own)
      labels.set(label, key)
    }
  return [...targets.values()]
}
