import type { JobSettings, Target } from '../../src/model/job.ts'
import type { JobQuery } from '../../src/model/query.ts'

/** A query of a job file, of which only what matters is named. */
export function aJobQuery(query: Partial<JobQuery> = {}): JobQuery {
  return {
    operation: 'alpha.search',
    text: 'standing desk',
    params: {},
    depth: null,
    pages: null,
    tags: [],
    priority: 0,
    volume: null,
    url: null,
    every: null,
    labels: {},
    targets: [],
    marksLeftOut: false,
    source: { file: 'job.yaml', line: 1 },
    ...query,
  }
}

/** No limit in credits. */
export const noBudget: JobSettings['budget'] = {
  maxCredits: null,
  perDay: null,
  perMonth: null,
  confirmOver: null,
  keep: null,
}

/** Settings of a job, of which only what matters is named. */
export function aJob(settings: Partial<JobSettings> = {}): JobSettings {
  return {
    name: 'acme',
    file: '/jobs/acme.yaml',
    style: 'get',
    async: 'auto',
    paging: 'all',
    until: 'own',
    deepEveryMs: 7 * 86_400_000,
    ctr: null,
    strictEcho: false,
    freshnessMs: null,
    timezone: 'UTC',
    schedule: null,
    every: null,
    cadence: null,
    targets: [],
    freshnessOfRuns: null,
    alerts: null,
    ping: null,
    digest: null,
    report: null,
    views: null,
    notes: null,
    continues: null,
    budget: noBudget,
    ...settings,
  }
}

export function aTarget(site = 'acme.com', target: Partial<Target> = {}): Target {
  return { site, match: 'domain', also: [], label: site, own: true, ...target }
}
