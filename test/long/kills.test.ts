import { expect, test } from 'vitest'
import { hashText, mix, unit } from '../../src/sandbox/world/hash.ts'
import { faults } from '../support/judge.ts'
import { commandOf, type KillJob, noonZone, stageOf, undisturbed } from '../support/kill-job.ts'
import { type KilledRun, type Phase, phases, runAndKill } from '../support/killed-run.ts'
import { long, often } from '../support/long.ts'
import { seed } from '../support/seed.ts'

const killsOfAJob = often(20, 1)
const killsOfARun = 5

const queries = (count: number, from = 1): string =>
  `queries:\n${Array.from({ length: count }, (_, index) => `  - desk ${from + index}\n`).join('')}`

const tracked = `depth: 30\ntargets: [acme.com]\ncompetitors: [rival.com]\ntimezone: ${noonZone()}\n`
const sites = ['acme.com', 'rival.com']

const jobs: Readonly<Record<string, KillJob>> = {
  'a web search of one page': {
    files: { 'job.yaml': queries(80) },
    concurrency: 6,
  },
  'asynchronous images': {
    files: { 'job.yaml': `operation: alpha.images\nasync: always\n${queries(36)}` },
    concurrency: 24,
    sandbox: { asyncMs: 300 },
  },
  'three pages of each query': {
    files: { 'job.yaml': `${tracked}${queries(25)}` },
    concurrency: 5,
    sandbox: { sites },
  },
  'pages until a target is found': {
    files: { 'job.yaml': `paging: until-found\n${tracked}${queries(50)}` },
    concurrency: 5,
    sandbox: { sites },
  },
  'two jobs that share queries': {
    files: { 'one.yaml': queries(45), 'two.yaml': queries(45, 31) },
    concurrency: 6,
  },
}

const hit = new Map<Phase, number>(phases.map((phase) => [phase, 0]))

test.each(Object.keys(jobs))(
  `%s: kills, ${killsOfAJob} in all, lose nothing, buy nothing twice and leave the books right`,
  async (name) => {
    const job = jobs[name] as KillJob
    const expected = await undisturbed(job)
    const salt = hashText(`${seed} ${name}`)
    let draws = 0
    const random = (): number => unit(mix(salt, draws++))
    for (let kills = 0; kills < killsOfAJob; ) {
      await using staged = await stageOf(job)
      const mostKills = Math.min(killsOfARun, killsOfAJob - kills)
      const isFirstInMidRun = kills === 0
      const run = await runAndKill({ ...staged, job, expected, random, mostKills, isFirstInMidRun })
      kills += run.kills.length
      for (const { phase } of run.kills) hit.set(phase, (hit.get(phase) ?? 0) + 1)
      const judged = { ...staged, run, concurrency: job.concurrency, expected: expected.memory }
      expect(faults(judged), `RANKLINE_TEST_SEED=${seed}, ${told(job, run)}`).toEqual([])
    }
  },
)

function told(job: KillJob, { kills }: KilledRun): string {
  const instants = kills.map(({ afterMs, phase }) => `${afterMs.toFixed(1)} ms (${phase})`)
  return `${commandOf(job).join(' ')} killed after ${instants.join(', ')}`
}

test('the kills came while calls were paid for, and in the long form at every phase of a run', () => {
  const landed = new Map([...hit].filter(([, kills]) => kills > 0))
  const inMidRun = (landed.get('sending') ?? 0) + (landed.get('storing') ?? 0)
  expect(inMidRun, JSON.stringify([...hit])).toBeGreaterThanOrEqual(Object.keys(jobs).length)
  if (long) expect([...landed.keys()], JSON.stringify([...hit])).toEqual(phases)
})
