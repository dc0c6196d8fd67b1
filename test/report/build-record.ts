import type { PageRecord, QueryRecord, TargetRecord } from '../../src/store/sqlite/rankings/serps.ts'

/** A page whose results have these links, their ranks counted from the base. */
export function aPage(page: number, links: readonly string[], base = (page - 1) * 10): PageRecord {
  return {
    page,
    state: 'done',
    cause: null,
    fetchedAt: '2026-03-01T06:00:00.000Z',
    results: links.map((link, index) => ({
      kind: 'organic',
      rank: base + index + 1,
      position: index + 1,
      title: 'A title',
      link,
      snippet: null,
    })),
  }
}

/** A page that brought nothing. */
export function noPage(page: number, state: PageRecord['state'], cause: string | null = null): PageRecord {
  return { page, state, cause, fetchedAt: null, results: [] }
}

/** What was observed of a target, of which only what matters is named. */
export function aTracked(target: Partial<TargetRecord> = {}): TargetRecord {
  return {
    site: 'acme.com',
    match: 'domain',
    also: [],
    label: 'acme.com',
    own: true,
    state: 'absent',
    rank: null,
    exactness: 'exact',
    depth: 10,
    unbrokenDepth: 10,
    page: null,
    ...target,
  }
}

/** A query of a run, of which only what matters is named. */
export function aRecord(record: Partial<QueryRecord> = {}): QueryRecord {
  return {
    run: 7,
    job: 'acme',
    date: '2026-03-01',
    operation: 'alpha.search',
    text: 'standing desk',
    params: { gl: 'us' },
    maxPages: 3,
    pageSize: 10,
    end: null,
    pages: [],
    targets: [],
    ...record,
  }
}
