import { readFileSync } from 'node:fs'
import { UsageError } from '../errors.ts'
import type { ResultKind } from '../model/result.ts'
import type { CtrCurve } from '../report/ctr/curve.ts'
import { defaultCurve } from '../report/ctr/default.ts'
import { parseCtr } from '../report/ctr/parse.ts'
import type { Measure } from '../report/headline.ts'
import { kindWords, partsOf } from '../report/parts.ts'
import type { RankHistory } from '../report/rank-history.ts'

export interface MeasureFlags {
  readonly ctr?: string
  readonly absent?: string
  readonly kind?: string
}

/** How a report is to measure. Throws a sentence where the flags are wrong, and one for each mistake in the curve. */
export function measureOf({ ctr, absent, kind }: MeasureFlags): Measure {
  return {
    curve: ctr === undefined ? defaultCurve : curveOf(ctr),
    absent: absentOf(absent),
    ...(kind === undefined ? {} : { kind: kindOf(kind) }),
  }
}

/** Kinds of results that are ranked, as they are named in JSON. */
const kinds = ['organic', 'news', 'video', 'image', 'reference'] as const satisfies readonly ResultKind[]

/** As in JSON, or as `export` names them. */
function kindOf(text: string): ResultKind {
  const kind = kinds.find((one) => one === text || `${one}s` === text)
  if (kind !== undefined) return kind
  throw new UsageError(`--kind cannot be '${text}'; write one of ${kinds.join(', ')}`)
}

/** Throws where the report has no ranks of the kind that its figures are to be of. */
export function refuseMissingKind({ kind }: Measure, history: RankHistory): void {
  const has = partsOf(history).map((part) => part.kind)
  if (kind === undefined || has.length === 0 || has.includes(kind)) return
  throw new UsageError(
    `The job ${history.job} has no ranks of ${kindWords[kind]}; write --kind ${[...new Set(has)].join(' or ')}, or leave it out`,
  )
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
