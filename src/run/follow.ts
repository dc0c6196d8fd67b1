import type { Outcome } from '../model/call.ts'
import type { JobSettings } from '../model/job.ts'
import type { AnswerFacts } from '../model/result.ts'
import { matcherOf } from '../rank/match.ts'
import { observe } from '../rank/observe.ts'
import { type Page, rankPages } from '../rank/pages.ts'
import { decidePaging } from '../rank/paging.ts'
import type { Consequences, StoredQuery } from '../store/answers.ts'

/** How a page ended: with an answer that says these facts, or failed. */
export type PageEnd = { readonly facts: AnswerFacts } | { readonly failed: Outcome | 'malformed' }

/** Pages that would fail for the same reason are not worth asking for. */
const hopeless: ReadonlySet<string> = new Set(['rejected', 'not-found'])

/**
 * What follows for a query once one of its pages ended: the ranks of all its pages, what is observed of its
 * targets, and the next page. A page that failed for a passing reason does not keep the next one back.
 */
export function followPage(
  query: StoredQuery,
  page: number,
  end: PageEnd,
  settings: Pick<JobSettings, 'paging' | 'until'>,
): Consequences {
  const settled = query.pages.filter((one) => one.page <= page)
  const paging =
    'facts' in end ? afterAnswer(query, settled, end.facts, settings) : afterFailure(query, page, end)
  return { ...weigh(query, expected(query, page, paging)), paging }
}

/** What the stored pages of a query come to, when nothing new came. */
export function weigh(
  query: StoredQuery,
  pages: readonly Page[] = query.pages,
): Pick<Consequences, 'ranks' | 'observations'> {
  return {
    ranks: rankPages(pages, query.pageSize).filter(({ ranks }) => ranks.length > 0),
    observations: query.targets.map((target) => ({
      targetId: target.id,
      ...observe(pages, query.pageSize, matcherOf(target)),
    })),
  }
}

function afterAnswer(
  query: StoredQuery,
  pages: readonly Page[],
  facts: AnswerFacts,
  { paging, until }: Pick<JobSettings, 'paging' | 'until'>,
): Consequences['paging'] {
  const awaited = query.targets.filter(({ own }) => own || until === 'all')
  const links = pages.flatMap(({ items }) => items.flatMap(({ link }) => (link === null ? [] : [link])))
  const found = awaited.length > 0 && awaited.every((target) => links.some(matcherOf(target)))
  return decidePaging({
    policy: paging,
    pages,
    maxPages: query.maxPages,
    depth: query.depth,
    found,
    ...facts,
  })
}

function afterFailure(
  { maxPages }: StoredQuery,
  page: number,
  { failed }: { failed: string },
): Consequences['paging'] {
  if (hopeless.has(failed)) return { because: `page ${page} failed`, final: true }
  return page < maxPages ? { next: page + 1 } : { because: 'no page is left', final: false }
}

/** The pages as they will be: those that are passed over no longer open, the next one open. */
function expected(
  { pages, maxPages }: StoredQuery,
  page: number,
  paging: Consequences['paging'],
): readonly Page[] {
  if (paging === null) return pages
  if ('because' in paging) {
    const known = pages.filter((one) => one.page <= page || one.state !== 'open')
    // What a page would have brought that cannot be had is not known.
    return paging.broke && page < maxPages
      ? [...known, { page: page + 1, state: 'failed', items: [] }]
      : known
  }
  const planned = pages.some((one) => one.page === paging.next)
  return planned ? pages : [...pages, { page: paging.next, state: 'open', items: [] }]
}
