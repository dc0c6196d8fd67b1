import { readFileSync } from 'node:fs'
import { UsageError } from '../errors.ts'
import type { CtrCurve } from '../report/ctr/curve.ts'
import { defaultCurve } from '../report/ctr/default.ts'
import { parseCtr } from '../report/ctr/parse.ts'
import type { Measure } from '../report/headline.ts'

export interface MeasureFlags {
  readonly ctr?: string
  readonly absent?: string
}

/** How a report is to measure. Throws a sentence where the flags are wrong, and one for each mistake in the curve. */
export function measureOf({ ctr, absent }: MeasureFlags): Measure {
  return { curve: ctr === undefined ? defaultCurve : curveOf(ctr), absent: absentOf(absent) }
}

function curveOf(file: string): CtrCurve {
  return parseCtr(read(file), file)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(
      `The curve ${file} cannot be read. Check the path given to --ctr, and its permissions`,
      { cause: error },
    )
  }
}

/** Deeper is looked nowhere. */
const deepest = 100_000

function absentOf(text = 'depth'): NonNullable<Measure['absent']> {
  if (text === 'depth') return 'depth'
  if (text === 'looked-at') return 'looked at'
  if (text === 'ranked-only') return 'left out'
  const rank = /^\d+$/.test(text) ? Number(text) : 0
  if (rank >= 1 && rank <= deepest) return rank
  throw new UsageError(
    `--absent cannot be '${text}'; write depth, looked-at, ranked-only, or a rank such as 101`,
  )
}
