import { expect, test } from 'vitest'
import type { AlertMessage } from '../../src/model/settings.ts'
import { callAt, staged } from './staged.ts'

const queries = Array.from({ length: 12 }, (_, index) => `desk ${index + 10}`)
const job = `name: acme
targets: [acme.com]
queries: [${queries.join(', ')}]
alerts: [{ when: lost }]
`

/** An answer to each query, with acme.com where it ranks. */
const answers = (ranks: (query: string) => boolean) =>
  queries.map((query) => ({
    ...{ operation: 'alpha.search', query },
    do: {
      body: {
        organic_results: [
          { position: 1, title: 'A page', link: `https://site.example/${query.replace(' ', '-')}` },
          ...(ranks(query) ? [{ position: 2, title: 'Desks', link: 'https://acme.com/desks' }] : []),
        ],
      },
    },
  }))

const day = 86_400_000

test('a job whose ranks are gone at once is said to be suspect, first and in all forms, and told as one alert', async () => {
  const { sandbox, place } = await staged()
  await place.file('rankline.yaml', 'channels: { log: { type: file, path: alerts.jsonl } }\n')
  await place.file('acme.yaml', job)
  const run = (days: number, ...more: readonly string[]) =>
    callAt(place, days * day, 'run', 'acme.yaml', ...more)
  const told = async () =>
    (await place.read('alerts.jsonl'))
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly data: AlertMessage }).data)
      .map(({ run, alerts }) => [
        run,
        ...alerts.map(({ when, state, query }) => `${when} ${state} ${query ?? ''}`),
      ])

  sandbox.control({ rules: answers(() => true) })
  expect(await run(0)).toMatchObject({ code: 0 })
  sandbox.control({ rules: answers(() => false) })
  const gone = await run(1)
  expect(gone.code).toBe(3)
  const said = '12 of 12 ranks of the last run are gone at once'
  expect(gone.stdout.split('\n').slice(0, 2)).toEqual([
    `acme (run 2) is suspect: ${said}. Check before you tell anyone: rankline report acme`,
    expect.stringContaining('completed, 12 of 12 tasks done'),
  ])
  expect(JSON.parse((await place.call(['runs', '2', '--json'])).stdout)).toMatchObject({
    finish_reason: 'completed',
    suspect: { ranked: 12, gone: 12, alike: 0 },
  })
  expect(await told()).toEqual([[2, 'suspect open ']])

  const sentence = 'Suspect: 12 of 12 ranks are gone at once. Check before you tell anyone.'
  const report = (...more: readonly string[]) => place.call(['report', 'acme', ...more])
  expect((await report('--format', 'table')).stdout.split('\n')[0]).toBe(sentence)
  expect((await report('--format', 'md')).stdout).toContain(`\n\n- ${sentence}\n`)
  expect((await report('--format', 'email')).stdout).toMatch(/^Subject:.*Suspect: 12 of 12 ranks/m)
  const page = await report('--format', 'html')
  expect(page.stdout).toContain(sentence)
  expect((await report('--format', 'email', '--for', 'client')).stdout).not.toContain('tell anyone')
  const rows = await report('--format', 'json')
  expect(rows.stderr).toBe(`The last run of acme is suspect: ${said}. Check before you tell anyone.\n`)
  expect(JSON.parse(rows.stdout)).toMatchObject(queries.map((query) => ({ query, suspect: true })))
  expect(JSON.parse((await report('--metrics', '--json')).stdout)).toMatchObject({
    suspect_run: { gone: 12 },
  })

  // All but one come back: only that one is lost.
  sandbox.control({ rules: answers((query) => query !== 'desk 10') })
  expect(await run(2)).toMatchObject({ code: 0 })
  expect(await told()).toEqual([
    [2, 'suspect open '],
    [3, 'lost open desk 10', 'suspect over '],
  ])
  expect((await report('--format', 'table')).stdout).not.toContain('uspect')
})
