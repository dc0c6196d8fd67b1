import { expect, test } from 'vitest'
import { staged } from './staged.ts'

const job = (query: string, more = '') =>
  `targets: [acme.com]\nparams: { location: Austin }\n${more}queries: [${query}]\n`

test('a job is found by its name without the ending, by its folder, and by a name that is nearly its own', async () => {
  const { sandbox, place } = await staged()
  await place.file('acme.yaml', job('desk', 'name: acme-us\n'))
  await place.file('words.csv', 'query\nlamp\n')
  await place.file('clients/globex.yaml', job('chair'))
  await place.file('rankline.yaml', 'defaults: { depth: 10 }\n')
  expect((await place.call(['run', 'acme', 'words', 'clients/globex'])).code).toBe(0)
  expect(place.sql('SELECT job FROM runs ORDER BY 1')).toEqual([
    { job: 'acme-us' },
    { job: 'globex' },
    { job: 'words' },
  ])
  for (const [name, query] of [
    ['acme', 'desk'],
    ['acme-us', 'desk'],
    ['acme.yaml', 'desk'],
    ['globex', 'chair'],
  ] as const) {
    const { code, stdout } = await place.call(['report', name, '--format', 'csv', '--raw'])
    expect([name, code, stdout.includes(query)]).toEqual([name, 0, true])
  }

  const charged = sandbox.ledger.charged
  const wrong = await place.call(['run', 'acmee'])
  expect([wrong.code, wrong.stderr]).toEqual([2, 'acmee: there is no such file; did you mean acme.yaml?\n'])
  for (const [typed, meant] of [
    ['acm.csv', 'acme.yaml'],
    ['wor.yaml', 'words.csv'],
  ] as const)
    expect((await place.call(['plan', typed])).stderr).toContain(
      `${typed}: there is no such file; did you mean ${meant}?`,
    )
  const unknown = await place.call(['report', 'globx'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Did you mean globex?')])

  const folder = await place.call(['plan', '.', '--json'])
  expect(JSON.parse(folder.stdout)).toMatchObject({ job: 'acme-us' })
  const all = await place.call(['plan', 'acme.yaml', 'rankline.yaml', 'words.csv', '--json'])
  expect(all.code).toBe(0)
  expect(JSON.parse(all.stdout).map(({ job }: { job: string }) => job)).toEqual(['acme-us', 'words'])
  expect(all.stderr).toContain('rankline.yaml is left out: it holds what the jobs share, and no job.')
  expect(sandbox.ledger.charged).toBe(charged)
})

test('what cannot be meant is refused before anything is asked', async () => {
  const { sandbox, place } = await staged()
  const file = await place.file('acme.yaml', job('desk', 'alerts: [{ when: run-failed, to: [mial] }]\n'))
  for (const channels of ['{}', 'channels: { mail: { type: file, path: alerts.jsonl } }']) {
    await place.file('rankline.yaml', channels)
    const { code, stderr } = await place.call(['plan', file])
    expect(code).toBe(2)
    expect(stderr).toContain("'mial'")
  }
  await place.file('acme.yaml', job('desk'))
  for (const command of ['plan', 'run']) {
    const { code, stderr } = await place.call([command, file, '--max-credits', '0'])
    expect([code, stderr]).toEqual([2, expect.stringContaining("--max-credits cannot be '0'")])
  }
  expect(sandbox.ledger.charged).toBe(0)
})

test('the address of a host is that host: one target, and one history', async () => {
  const { place } = await staged({ sites: ['acme.com'] })
  const file = await place.file('acme.yaml', job('desk'))
  expect((await place.call(['run', file])).code).toBe(0)
  await place.file(
    'acme.yaml',
    job('desk').replace('[acme.com]', '["https://Acme.com/", acme.com, "http://acme.com"]'),
  )
  expect((await place.call(['run', file, '--fresh'])).code).toBe(0)
  expect(place.sql('SELECT DISTINCT target FROM rankings')).toEqual([{ target: 'acme.com' }])
  expect(place.sql('SELECT site FROM targets')).toEqual([{ site: 'acme.com' }])
})
