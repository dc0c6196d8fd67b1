import { expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { readJob, yamlProblems } from './reading.ts'

const q = 'queries: [a]\n'

testTable<[string, readonly string[]]>([
  ['{ when: drop, by: 3, top: 20 }', []],
  ['{ when: lost, by: 3 }, { when: left, top: 10, by: 3 }', []],
  ['{ when: drop }', []],
  ['{ when: left, top: 10, confirm: 3, for: { tags: [a] }, to: [mail, chat] }', []],
  ['{ when: coverage, below: 95 }', []],
  ['{ when: run-failed }', []],
  ['{ when: dorp }', ["1:18: when cannot be 'dorp'; write 'drop'"]],
  ['{ by: 3 }', ["1:10: when is missing; add 'when:'"]],
  ['{ when: left }', ["1:10: alert 'when: left' has no top; add its limit such as 'top: 10'"]],
  [
    '{ when: new-competitor }',
    ["1:10: alert 'when: new-competitor' has no top; add its limit such as 'top: 10'"],
  ],
  ['{ when: balance }', ["1:10: alert 'when: balance' has no below; add its limit such as 'below: 1000'"]],
  ['{ when: entered, top: 3, by: 2 }', ["1:39: by does not go with 'when: entered'; remove it"]],
  ['{ when: citation-lost, top: 3 }', ["1:38: top does not go with 'when: citation-lost'; remove it"]],
  ['{ when: drop, below: 3 }', ["1:31: below does not go with 'when: drop'; remove it"]],
  [
    '{ when: run-failed, confirm: 2, for: { tags: [a] } }',
    [
      "1:39: confirm does not go with 'when: run-failed'; remove it",
      "1:47: for does not go with 'when: run-failed'; remove it",
    ],
  ],
  ['{ when: coverage, below: 101 }', ["1:35: below cannot be '101'; write a percentage from 1 to 100"]],
  ['{ when: drop, by: 0 }', ["1:28: by cannot be '0'; write a whole number from 1 up"]],
  ['{ when: drop, confirm: 4 }', ["1:33: confirm cannot be '4'; write a whole number from 1 to 3"]],
  [
    '{ when: drop, recheck: true }',
    [
      "1:24: recheck is gone: no query is bought a second time for an alert; write 'confirm: 2', which waits for the next run",
    ],
  ],
  ['{ when: drop, to: [] }', ['1:28: to is an empty list; write at least one entry, or leave it out']],
  ['{ when: drop, to: mail }', ["1:28: to cannot be 'mail'; write a list such as [a, b]"]],
  [
    '{ when: new-competitor, top: 3, for: { targets: [acme.com] } }',
    ["1:58: targets does not go with 'when: new-competitor', which watches all other sites; remove it"],
  ],
  ['{ when: drop, onfirm: 2 }', ["1:24: unknown key 'onfirm'; write 'confirm'"]],
  ['{ when: drop, for: { tag: [a] } }', ["1:31: unknown key 'tag'; write 'tags'"]],
  [
    '{ when: drop, by: 3 }, { when: drop, by: 3, confirm: 2, to: [mail] }',
    ['1:33: alert 2 watches the same as alert 1; keep one of them, and name all channels in its to:'],
  ],
])('alerts: [%s] has these mistakes', async (rules, problems) => {
  expect(await yamlProblems(`alerts: [${rules}]\n${q}`)).toEqual(problems.map((one) => `job.yaml:${one}`))
})

test('a rule gets its defaults', async () => {
  const { settings } = await readJob({ 'job.yaml': `alerts: [{ when: url-changed }]\n${q}` })
  expect(settings?.alerts).toEqual([
    {
      when: 'url-changed',
      ...{ by: null, top: null, below: null, confirm: 1, to: null },
      for: { tags: null, targets: null },
    },
  ])
})

test('names of channels and targets that are not there are mistakes, where it is certain', async () => {
  const problems = async (
    rules: string,
    rest = q,
    shared = 'channels: { mail: { type: email, to: [a@b.c] } }\n',
  ) =>
    (
      await readJob({
        'job.yaml': `alerts: [${rules}]\ntargets: [{ site: acme.com, label: Acme }]\n${rest}`,
        'rankline.yaml': shared,
      })
    ).problems
  expect(await problems('{ when: drop, to: [mial], for: { targets: [Acme, acme.com, acne.com] } }')).toEqual([
    "job.yaml:1:29: there is no channel 'mial' in rankline.yaml; write 'mail'",
    "job.yaml:1:69: there is no target 'acne.com' in this job; write 'acme.com'",
  ])
  expect(await problems('{ when: drop, to: [x] }')).toEqual([
    "job.yaml:1:29: there is no channel 'x' in rankline.yaml; write one of mail",
  ])
  // A folder that is not set up yet, and queries with targets of their own.
  expect(await problems('{ when: drop, to: [x] }', q, '')).toEqual([])
  expect(
    await problems('{ when: drop, for: { targets: [x.com] } }', 'queries: [{ query: a, target: x.com }]\n'),
  ).toEqual([])
})
