import type { Database } from 'better-sqlite3'
import type { Target, Variant } from '../../model/target.ts'

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
