import type { Row } from '../../src/model/result.ts'

/** A row of the `rankings` view, of which only what matters is named. */
export function aRanking(row: Row = {}): Row {
  return {
    job: 'acme',
    query: 'standing desk',
    target: 'acme.com',
    operation: 'alpha.search',
    gl: null,
    hl: null,
    location: null,
    tags: null,
    date: '2026-03-01',
    observed_at: '2026-03-01T06:00:00.000Z',
    state: 'ranked',
    rank: 3,
    exactness: 'exact',
    depth: 10,
    url: 'https://acme.com/',
    title: 'Acme',
    run_id: 1,
    own: 1,
    target_site: 'acme.com',
    target_match: 'domain',
    volume: null,
    intended_url: null,
    params: '{}',
    labels: '{}',
    page: 1,
    unbroken_depth: row.depth ?? 10,
    urls: null,
    target_also: '[]',
    suspect: 0,
    ...row,
  }
}

export const absent: Row = { state: 'absent', rank: null, url: null, title: null }
export const unknown: Row = { ...absent, state: 'unknown', exactness: null, depth: 0 }
