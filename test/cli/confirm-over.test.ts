import { expect, test } from 'vitest'
import { rejectRaised } from '../../src/run/run-jobs.ts'
import { prices } from '../../src/run/spending.ts'
import { staged } from './staged.ts'

const ten = `queries: [${Array.from({ length: 10 }, (_, index) => `word ${index}`).join(', ')}]\n`

test('a run above confirm_over buys nothing and changes nothing without --yes; plan says so, too', async () => {
  const { sandbox, place } = await staged()
  await place.file('acme.yaml', `budget: { confirm_over: 9 }\n${ten}`)
  await place.file('beta.yaml', `budget: { confirm_over: 3, max_credits: 8 }\n${ten}`)
  await place.file('cheap.yaml', `budget: { confirm_over: 10 }\n${ten}`)
  const jobs = ['acme.yaml', 'beta.yaml', 'cheap.yaml']

  const refused = await place.call(['run', ...jobs])

  expect(refused).toEqual({
    code: 4,
    stdout: '',
    stderr:
      'rankline: acme may cost 10 credits (confirm_over: 9), beta 8 (confirm_over: 3). Nothing was sent; to buy them, run the same command with --yes\n',
  })
  expect(place.sql('SELECT * FROM runs')).toEqual([])
  expect(sandbox.ledger.charged).toBe(0)

  const plan = await place.call(['plan', ...jobs, '--json'])
  expect(plan.stderr).toContain(
    'acme may cost 10 credits (confirm_over: 9), beta 8 (confirm_over: 3): run asks first, or needs --yes.\n',
  )
  expect(JSON.parse(plan.stdout).map((one: { confirm_over?: number }) => one.confirm_over)).toEqual([
    9,
    3,
    undefined,
  ])

  expect((await place.call(['run', 'acme.yaml', '--yes'])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(10)
})

test('of a run that goes on, what is still to come counts: by run, resume and retry', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file('acme.yaml', `pages: 2\n${ten}`)
  const over = (credits: number) => ['--confirm-over', String(credits)]
  expect((await place.call(['run', job, '--max-credits', '6', ...over(20)])).code).toBe(4)
  expect(sandbox.ledger.charged).toBe(6)

  const refused = await place.call(['run', job, ...over(13)])
  expect(refused.code).toBe(4)
  expect(refused.stderr).toContain('acme may cost 14 credits (confirm_over: 13).')
  expect(place.sql('SELECT run_id, finish_reason FROM runs')).toEqual([
    { run_id: 1, finish_reason: 'budget' },
  ])
  expect((await place.call(['run', job, '--max-credits', '8', ...over(14)])).code).toBe(4)
  expect(sandbox.ledger.charged).toBe(8)

  place.change(
    `UPDATE runs_ SET settings = json_set(settings, '$.budget.confirmOver', 11, '$.budget.maxCredits', NULL)`,
  )
  const unanswered = await place.call(['resume'])
  expect(unanswered.stderr).toContain('acme may cost 12 credits (confirm_over: 11).')
  expect(unanswered.code).toBe(4)
  expect(sandbox.ledger.charged).toBe(8)
  sandbox.control({ rules: [{ times: 2, do: { status: 400 } }] })
  expect((await place.call(['resume', '--yes'])).code).toBe(3)
  const charged = sandbox.ledger.charged
  place.change(`UPDATE runs_ SET settings = json_set(settings, '$.budget.confirmOver', 1)`)
  const retried = await place.call(['retry'])
  expect(retried.code).toBe(4)
  expect(retried.stderr).toMatch(/^rankline: acme may cost [234] credits \(confirm_over: 1\)\./)
  expect(place.sql("SELECT count(*) AS failed FROM tasks WHERE state = 'failed'")).toEqual([{ failed: 2 }])
  expect((await place.call(['retry', '--yes'])).code).toBe(0)
  expect(sandbox.ledger.charged).toBeGreaterThan(charged)
})

test('a person is asked once for all, and a price that rose meanwhile is not agreed to', async () => {
  const dear = [{ job: 'acme', credits: 500, confirmOver: 300 }]
  const asked: string[] = []
  const answering = (yes: boolean) => async (question: string) => {
    asked.push(question)
    return yes
  }
  await prices.confirm(dear, answering(true))
  expect(asked).toEqual(['acme may cost 500 credits (confirm_over: 300). Buy?'])
  await expect(prices.confirm(dear, answering(false))).rejects.toMatchObject({ exitCode: 4 })
  await expect(prices.confirm(dear, null)).rejects.toMatchObject({ exitCode: 4 })
  await prices.confirm([], answering(false))
  expect(asked).toHaveLength(2)
  rejectRaised(dear, dear)
  rejectRaised([], dear)
  expect(() => rejectRaised([{ job: 'acme', credits: 501, confirmOver: 300 }], dear)).toThrow('501 credits')
})
