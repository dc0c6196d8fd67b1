import type { AlertRule } from '../../src/model/settings.ts'
import type { RunHealth } from '../../src/unattended/alerts/causes.ts'
import { type AlertFacts, evaluate, type KnownAlert } from '../../src/unattended/alerts/judgement.ts'
import type {
  AnsweredObservation,
  WatchedPair,
  WatchedQuery,
} from '../../src/unattended/alerts/query-rules.ts'

export function aRule(rule: Partial<AlertRule> & Pick<AlertRule, 'when'>): AlertRule {
  return {
    by: null,
    top: null,
    below: null,
    for: { tags: null, targets: null },
    confirm: 1,
    to: null,
    ...rule,
  }
}

export function aWatchedQuery(query: Partial<WatchedQuery> = {}): WatchedQuery {
  return {
    id: 1,
    key: 'k1',
    text: 'standing desk',
    variant: '',
    tags: [],
    operation: 'alpha.search',
    locale: '',
    params: {},
    labels: {},
    url: null,
    volume: null,
    cites: false,
    ...query,
  }
}

export const acme: WatchedPair['target'] = { site: 'acme.com', match: 'domain', label: 'Acme', own: true }

export function aRun(health: Partial<RunHealth> = {}): RunHealth {
  return {
    finishReason: 'completed',
    hasCause: false,
    tasks: { planned: 10, done: 10, failed: 0 },
    ...{ mismatched: 0, unexplained: 0, balance: 5_000, daysLeft: 30 },
    ...health,
  }
}

/**
 * An observation as tables write it: `5` is a rank, `5b` the same with page b, `5B` with page b and a token, `-30` an absence after thirty results. Ranks were
 * looked for among thirty, with `5/10` among ten.
 */
export function observation(written: string): AnsweredObservation {
  if (written.startsWith('-')) {
    const depth = Number(written.slice(1))
    return { rank: null, depth, pages: depth / 10, link: null }
  }
  const [, rank, page = '', depth = 30] = written.match(/^(\d+)([a-z]?)(?:\/(\d+))?$/i) ?? []
  const pages = Number(depth) / 10
  return { rank: Number(rank), depth: Number(depth), pages, link: page === '' ? 1 : page.charCodeAt(0) }
}

export function observationsOf(written: string): readonly AnsweredObservation[] {
  return written.split(' ').map(observation)
}

const noFacts = {
  job: 'acme',
  health: null,
  skipped: null,
  suspicion: null,
  pairs: [],
  serps: [],
  linkText: (id: number) => {
    const letter = String.fromCharCode(id)
    const page = letter.toLowerCase()
    return `https://acme.com/${page}${letter === page ? '' : `?srsltid=${letter}`}`
  },
}

/** What is told run by run, where each run adds one fact to those before; `null` stands for a run without an answer. */
export function story(
  rules: readonly AlertRule[],
  runs: readonly (Partial<AlertFacts> | null)[],
): readonly (readonly string[])[] {
  let open: KnownAlert[] = []
  return runs.map((facts, at) => {
    if (facts === null) return []
    const { changes, dropped } = evaluate({ ...noFacts, rules, at, ...facts }, open)
    open = open.filter(({ id }) => !dropped.includes(id))
    return changes.map(({ state, id, identity, before, now, rule }) => {
      if (state === 'open') open.push({ id, identity, before, now })
      else open = open.filter((one) => one.id !== id)
      return `${rule.when} ${state} ${before}→${now}`
    })
  })
}

/** What is told of one target over its observations, each run being given the last eight. */
export function rankStory(
  rules: readonly AlertRule[],
  observations: readonly (AnsweredObservation | null)[],
  query: Partial<WatchedQuery> = {},
): readonly (readonly string[])[] {
  const seen: AnsweredObservation[] = []
  const runs = observations.map((one): Partial<AlertFacts> | null => {
    if (one === null) return null
    seen.push(one)
    return { pairs: [{ query: aWatchedQuery(query), target: acme, observations: seen.slice(-8) }] }
  })
  return story(rules, runs)
}

/** The same on one line, runs without a word left out: `2: drop open 5→9`. */
export function told(stories: readonly (readonly string[])[]): string {
  return stories
    .flatMap((news, run) => (news.length === 0 ? [] : [`${run + 1}: ${news.join(', ')}`]))
    .join('; ')
}
