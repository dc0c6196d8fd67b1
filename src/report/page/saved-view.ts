import type { SavedView } from '../../model/settings/presentation.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { PageData } from './data.ts'

/** The saved view with a name; undefined for the tab of all keywords. */
export function savedView({ presentation }: PageData, name: string): SavedView | undefined {
  return name === '' ? undefined : presentation.views.find((one) => one.name === name)
}

/** Places of the targets of a saved view, in the order in which it names them; all if it names none. */
export function targetsOfView({ targets }: RankHistory, view: SavedView | undefined): readonly number[] {
  const all = [...targets.keys()]
  const named = (view?.targets ?? []).flatMap((name) =>
    all.filter((place) => targets[place]?.label === name || targets[place]?.site === name),
  )
  return named.length === 0 ? all : [...new Set(named)]
}
