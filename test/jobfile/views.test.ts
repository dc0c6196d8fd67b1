import { expect, test } from 'vitest'
import { readJob } from './reading.ts'

test('views name what the job has, and each has a name of its own', async () => {
  const problems = async (views: string, more = 'queries: [a]\n') =>
    (await readJob({ 'job.yaml': `views: [${views}]\ntargets: [{ site: acme.com, label: Acme }]\n${more}` }))
      .problems
  expect(
    await problems('{ name: A, targets: [Acme, acme.com], kinds: [organic, news], tags: [any] }'),
  ).toEqual([])
  expect(
    await problems('{ name: A, targets: [acne.com] }, { name: B, kinds: [newz] }, { name: A, tags: [x] }'),
  ).toEqual([
    "job.yaml:1:30: there is no target 'acne.com' in this job; write 'acme.com'",
    "job.yaml:1:62: there is no kind 'newz' of results; write 'news'",
    "job.yaml:1:79: the name 'A' is that of view 1, too; give each view a name of its own",
  ])
  // What conditions name is known when the queries were read.
  const csv = 'queries: [{ file: k.csv }]\nalerts: [{ when: drop, for: { where: "team=red and tg=x" } }]\n'
  const { problems: ofConditions } = await readJob({
    'job.yaml': `views: [{ name: A, where: tem=red }, { name: B, where: TEAM=red }]\n${csv}`,
    'k.csv': 'query,team,tags\na,red,x\n',
  })
  expect(ofConditions).toEqual([
    "job.yaml:1:27: 'tem=red': no query has 'tem'; write 'team'",
    "job.yaml:1:56: 'TEAM=red': no query has 'TEAM'; write 'team'",
    "job.yaml:3:38: 'tg=x': no query has 'tg'; write 'tag'",
  ])
  expect(await problems('{ name: A, where: volume>many }, { name: B, where: depth>10 }')).toEqual([
    "job.yaml:1:27: where 'volume>many' compares with 'many', which is not a number; write one, or use = or !=",
    "job.yaml:1:60: where 'depth>10' names 'depth', which is how a query is bought: results are kept without it; write volume, tag, a parameter or a column of the CSV",
  ])
  // Queries with targets of their own.
  expect(await problems('{ name: A, targets: [x.com] }', 'queries: [{ query: a, target: x.com }]\n')).toEqual(
    [],
  )
})
