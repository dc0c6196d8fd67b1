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
  // Queries with targets of their own.
  expect(await problems('{ name: A, targets: [x.com] }', 'queries: [{ query: a, target: x.com }]\n')).toEqual(
    [],
  )
})
