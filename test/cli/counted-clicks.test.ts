import { join } from 'node:path'
import readSheets from 'read-excel-file/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { digestMessage, figuresOf } from '../../src/unattended/messages/digest-content.ts'
import { decoded, partsOf, plainText } from '../report/formats/email/message.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

const desks = ['standing desk', 'adjustable desk', 'sit stand desk']
const job = (ctr: string): string => `name: ${ctr}
operation: alpha.search
params: { gl: us }
depth: 20
targets: [acme.com]
competitors: [rival.com]
ctr: ${ctr}
queries:
  - { query: standing desk, volume: 2400 }
  - { query: adjustable desk, volume: 900 }
  - sit stand desk
  - { query: desk lamp, volume: 50 }
  - { query: reading lamp, volume: 70 }
`

let place: Workspace

beforeAll(async () => {
  await using sandbox = await startSandbox({
    sites: ['acme.com', 'rival.com'],
    topics: [desks, ['desk lamp', 'reading lamp']],
  })
  sandbox.control({ date: '2026-03-04' })
  place = await workspace(sandbox)
  for (const ctr of ['default', 'own']) await place.file(`${ctr}.yaml`, job(ctr))
  expect((await place.call(['run', 'default.yaml', 'own.yaml'])).code).toBe(0)
  const today = new Date().toISOString().slice(0, 10)
  const rows = ['desk lamp', 'reading lamp', 'acme lamps'].flatMap((query, place) =>
    Array.from(
      { length: 56 },
      (_, back) => `${addDays(today, -back)},${query},usa,${(3 - place) * 10},1000,${3 + 5 * place}`,
    ),
  )
  await place.file('rows.csv', `date,query,country,clicks,impressions,position\n${rows.join('\n')}\n`)
  expect((await place.call(['clicks', 'add', 'rows.csv', '--site', 'acme.com'])).code).toBe(0)
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

/** Estimated clicks of a job: in its report, the report of all jobs, its gaps, its digest and its rows. */
async function estimates(job: string) {
  const document = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await place.call([...args, '--json'])
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const { ctr_curve: curve, targets } = await document('report', job, '--metrics')
  const all: readonly { readonly job: string; readonly clicks: number }[] = await document('report', '--all')
  const [gap] = await document('cluster', job, '--gaps')
  await using store = await openStore(join(place.folder, 'data/rankline.db'))
  const { settings } = (await store.latestRun(job)) as NonNullable<
    Awaited<ReturnType<typeof store.latestRun>>
  >
  const figures = await figuresOf(settings, store, Date.now())
  const { summary } = figures
  // What was counted is the same, whatever the curve.
  expect(digestMessage(figures, 'client').sections[0]?.lines).toContainEqual({
    label: 'Search Console',
    value: '1,400 clicks counted in 28 days, 56,000 impressions',
    change: null,
  })
  const own = targets.find((one: { readonly own: boolean }) => one.own)
  const { value: report } = own.figures.find(({ metric }: { readonly metric: string }) => metric === 'clicks')
  return {
    curve: curve.name,
    clicks: {
      report,
      portfolio: all.find((one) => one.job === job)?.clicks,
      digest: summary?.targets[0]?.figures.clicks.value,
      gap: gap.clicks,
    },
  }
}

test('clicks are estimated with the curve of the job, wherever that is', async () => {
  expect(await estimates('default')).toEqual({
    curve: 'Sistrix 2020 (mobile)',
    clicks: { report: 15.55, portfolio: 15.55, digest: 15.55, gap: 123 },
  })
  // 30 and 20 clicks of 1,000 impressions at ranks 2 and 3; ranks of the rival follow the shape of the default curve.
  const clicks = expect.closeTo(50 * 0.03 + 70 * 0.02, 9)
  expect(await estimates('own')).toEqual({
    curve: 'Own clicks of acme.com',
    clicks: { report: clicks, portfolio: clicks, digest: clicks, gap: 23 },
  })
})
const report = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await place.call(['report', 'own.yaml', ...args])
  expect(code, stderr).toBe(0)
  return stdout
}

test('counted clicks stand beside estimated ones in every form, in columns of their own', async () => {
  const lead = 'Search Console counted 1,400 clicks and 56,000 impressions for 2 of 5 keywords from '
  const beside = 'Clicks a month, estimated       3    1,400 clicks counted in 28 days, 1 without a volume'
  const table = await report('--rows')
  for (const text of [lead, beside]) expect(table).toContain(text)
  expect(table).toMatch(/ best on +estimated clicks +counted clicks +counted impressions +page\n/)
  expect(table).toMatch(/\ndesk lamp +us +acme\.com +2 .* 2 +840 +28,000 +acme\.com\//)
  // Of a rival nothing is counted.
  expect(table).toMatch(/\nadjustable desk +us +rival\.com +6 .* 9 +rival\.com\//)

  const markdown = await report('--format', 'md')
  expect(markdown).toContain(
    '| Clicks a month, estimated | 3 |  | 1,400 clicks counted in 28 days, 1 without a volume |',
  )
  expect(markdown).toContain('| best | estimated clicks | counted clicks | counted impressions | page |')
  expect(markdown).toMatch(/\| reading lamp \| \*\*acme\.com\*\* \| 3 .*\| 1 \| 560 \| 28,000 \| \[acme/)

  const [, , lamp] = JSON.parse(await report('--format', 'json'))
  expect(lamp).toMatchObject({
    estimated_clicks: 1.5,
    counted_clicks: 840,
    counted_impressions: 28_000,
    counted_position: 3,
  })

  await report('--out', 'own.xlsx')
  const sheets = await readSheets(join(place.folder, 'own.xlsx'))
  const [head = [], ...rows] = sheets.find(({ sheet }) => sheet === 'Rankings')?.data ?? []
  const at = head.indexOf('estimated_clicks')
  expect(head.slice(at, at + 6)).toEqual([
    'estimated_clicks',
    'counted_clicks',
    'counted_impressions',
    'counted_position',
    'counted_from',
    'counted_until',
  ])
  expect(rows[2]?.slice(at, at + 4)).toEqual([1.5, 840, 28_000, 3])

  await report('--out', 'own.eml')
  const message = await place.read('own.eml')
  expect(decoded(message.match(/^Subject: (.*(?:\r?\n .*)*)/m)?.[1] ?? '')).toContain(
    'About 3 clicks a month',
  )
  const { text, html } = partsOf(message)
  for (const body of [text, plainText(html)]) expect(body).toContain('counted')

  await report('--out', 'own.html')
  expect(await place.read('own.html')).toContain('Search Console counted 1,400 clicks')
})

test('the lead has counted clicks where they cover the period, and estimated ones alone where they do not', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const leadOf = async (newest: number, oldest: number): Promise<string> => {
    const last = JSON.parse((await place.call(['clicks', 'list', '--json'])).stdout).at(-1).id
    expect((await place.call(['clicks', 'undo', String(last)])).code).toBe(0)
    const days = Array.from({ length: oldest - newest + 1 }, (_, back) => addDays(today, -newest - back))
    await place.file(
      'part.csv',
      `date,query,country,clicks,impressions,position\n${days.map((day) => `${day},desk lamp,usa,1,100,3\n`).join('')}`,
    )
    expect((await place.call(['clicks', 'add', 'part.csv', '--site', 'acme.com'])).code).toBe(0)
    return (await report()).split('\n')[0] ?? ''
  }
  expect(await leadOf(2, 29)).toContain(
    `Search Console counted 26 clicks and 2,600 impressions for 1 of 5 keywords from `,
  )
  for (const [newest, oldest] of [
    [0, 13],
    [14, 27],
    [60, 90],
  ] as const) {
    const lead = await leadOf(newest, oldest)
    expect(lead).toMatch(/^About \d+ clicks? a month/)
    expect(lead).not.toContain('counted')
  }
})
