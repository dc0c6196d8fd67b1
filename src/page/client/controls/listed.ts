import { isInGroup, keywordGroups } from '../../../report/findings/groups.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../../report/history/movement.ts'
import { say } from '../language.ts'
import { movementLabel } from '../text.ts'

/** Keywords that the table can be limited to: those of a movement, and those that sentences count. */
export const listedGroups: readonly string[] = [...movementGroups, ...keywordGroups]

export function listedLabel(name: string): string {
  const group = keywordGroups.find((one) => one === name)
  return group === undefined ? movementLabel(name as MovementGroup) : say.overview.groups[group]
}

export function isListed(name: string, status: KeywordStatus): boolean {
  const group = keywordGroups.find((one) => one === name)
  return group === undefined ? groupOf(status.change) === name : isInGroup(group, status)
}
