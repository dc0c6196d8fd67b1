import type { Database } from 'better-sqlite3'
import type { Target, Variant } from '../../model/target.ts'
import type { WatchedTarget } from '../answers.ts'

/** Numbers of targets, given where they have none yet. Inside a transaction. */
export function targetIds(db: Database): (target: Pick<Target, 'site' | 'match' | 'also'>) => number {
  const add = db.prepare('INSERT INTO targets (site, match, also) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const find = db.prepare<[string, string, string], { id: number }>(
    'SELECT id FROM targets WHERE site = ? AND match = ? AND also = ?',
  )
  return ({ site, match, also }) => {
    const forms = JSON.stringify(also)
    add.run(site, match, forms)
    return (find.get(site, match, forms) as { id: number }).id
  }
}

/** Targets as a JSON list, for SQL that holds them against the columns `site`, `match` and `also`. */
export function namedTargets(targets: readonly Target[]): string {
  return JSON.stringify(targets.map((target) => ({ ...target, also: JSON.stringify(target.also) })))
}

/** A row with a target as it is stored. */
export type TargetRow<Row extends Target = Target> = Omit<Row, 'own' | 'also'> & {
  readonly own: number
  readonly also: string
}

export function toTarget<Row extends { readonly own: number; readonly also: string }>({
  own,
  also,
  ...row
}: Row) {
  return { ...row, own: own === 1, also: JSON.parse(also) as Variant[] }
}

/** Targets that all queries of a run are watched for, remembered: every page that is understood asks for them. */
export interface RunTargets {
  /** In the order of their numbers. */
  of(run: number): readonly WatchedTarget[]
  /** To be called by whoever changes them. */
  forget(): void
}

export function runTargets(db: Database): RunTargets {
  const find = db.prepare<[number], TargetRow<Target & { readonly id: number }>>(
    `SELECT tg.id, tg.site, tg.match, tg.also, rt.label, rt.own FROM run_targets rt JOIN targets tg ON tg.id = rt.target_id
    WHERE rt.run_id = ? AND rt.everywhere = 1 ORDER BY tg.id`,
  )
  const known = new Map<number, readonly WatchedTarget[]>()
  return {
    of: (run) => {
      const targets = known.get(run) ?? find.all(run).map(toTarget)
      known.set(run, targets)
      return targets
    },
    forget: () => known.clear(),
  }
}
