import type { Described } from '../../alerts/judgement.ts'
import type { Change } from '../../alerts/rules/evaluate.ts'
import type { WatchedQuery } from '../../alerts/rules/facts.ts'
import { kindCodes } from '../../model/result.ts'
import type { Run } from '../../model/run.ts'
import type { AlertKind } from '../../model/settings/alert.ts'
import { defaultCurve } from '../../report/ctr.ts'
import { rateOf } from '../../report/metrics/figure.ts'
import type { ResultList } from '../../store/alerts.ts'
import type { Store } from '../../store/store.ts'
import { kindOf } from './facts.ts'

/** Alerts of a rank that someone else has now. */
const ofLosses: readonly AlertKind[] = ['drop', 'left', 'lost']

/** What messages say of an alert beside its sentence. */
export function describing(
  store: Pick<Store, 'links' | 'resultList'>,
  { id: run }: Pick<Run, 'id'>,
): (change: Change, query: WatchedQuery) => Described {
  const resultAt = (
    { id, operation }: WatchedQuery,
    rank: number,
  ): ResultList['results'][number] | undefined => {
    const kind = kindOf(operation)
    if (kind === null) return undefined
    const { results } = store.resultList({ run, query: id, kind: kindCodes[kind], top: rank })
    return results.find((one) => one.rank === rank)
  }
  return ({ rule: { when }, state, before, now, link, rank }, query) => {
    const { locale, tags, volume } = query
    const [was, is] = [rankIn(before), rank ?? rankIn(now)]
    const share = Math.abs(rateOf(defaultCurve, is) - rateOf(defaultCurve, was))
    const rival = when === 'new-competitor' && is !== null ? resultAt(query, is) : undefined
    const successor =
      ofLosses.includes(when) && state === 'open' && was !== null ? resultAt(query, was) : undefined
    const own = link == null ? null : (store.links([link])[0] ?? null)
    return {
      share,
      details: {
        ...{ tags, volume, locale: locale === '' ? null : locale, url: rival?.link ?? own },
        clicks: volume === null ? null : Math.round(volume * share),
        there_now: successor?.site ?? null,
      },
    }
  }
}

/** What is told of a page has addresses there. */
function rankIn(value: Change['now']): number | null {
  return typeof value === 'number' ? value : null
}
