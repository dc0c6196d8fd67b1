import type { KeywordStatus } from '../../../history/keyword-status.ts'
import type { CtrCurve } from '../../../metrics/figure.ts'
import { byWorthOfMovement } from '../../../metrics/movements.ts'
import { say } from '../language.ts'
import type { PaperChoice } from '../table/grid.ts'

/** Of many keywords those whose clicks changed most are printed, then those with the most searches. */
export function mostChanged<Row>(curve: CtrCurve, statusOf: (row: Row) => KeywordStatus): PaperChoice<Row> {
  return (all, most) => {
    const rows = new Map(all.map((row) => [statusOf(row), row]))
    const { ordered, moved } = byWorthOfMovement([...rows.keys()], curve)
    const hasVolume = ordered.some(({ keyword }) => keyword.volume !== null)
    return {
      chosen: ordered.slice(0, most).map((status) => rows.get(status) as Row),
      lead: say.tables.mostChanged(most, all.length, { moved: Math.min(most, moved), hasVolume }),
    }
  }
}
