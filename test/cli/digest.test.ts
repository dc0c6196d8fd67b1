import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { queueDigests } from '../../src/app/messages/digest.ts'
import { nextSlot } from '../../src/plan/schedule/slots.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { aReceiver } from '../alerts/receivers.ts'
import { staged, threeDays } from './staged.ts'

const dayMs = 86_400_000
const zone = 'America/New_York'
const job = `timezone: ${zone}
targets: [acme.com]
competitors: [rival.com]
queries: [standing desk, oak desk]
digest: { every: "mon 08:00" }
`

test('a digest is put in once for each of its times and channels, and first after the job has begun', async () => {
  const place = await threeDays(job)
  onTestFinished(() => place[Symbol.asyncDispose]())
  await place.file(
    'rankline.yaml',
    'channels:\n  log: { type: file, path: a }\n  other: { type: file, path: b }\n',
  )
  const store = await openStore(join(place.folder, 'data/rankline.db'))
  onTestFinished(() => store[Symbol.asyncDispose]())
  const [run] = await store.runs({ job: 'acme' })
  const { settings, startedAt, date } = run as NonNullable<typeof run>
  const told = async (at: number): Promise<readonly string[]> => {
    await queueDigests([settings], store, { wall: () => at })
    return (await store.messages({})).map(({ identity }) => identity).reverse()
  }
  const monday = nextSlot('0 8 * * 1', zone, startedAt) as number
  const first = ['log', 'other'].map((name) => `digest:acme:${new Date(monday).toISOString()}:${name}`)
  expect(await told(monday - 1)).toEqual([])
  expect(await told(monday)).toEqual(first)
  expect(await told(monday + 6 * dayMs)).toEqual(first)
  // Three weeks off: the last time counts, once.
  const later = await told(monday + 27 * dayMs)
  expect(later).toHaveLength(4)
  expect(await told(monday + 27 * dayMs + 1)).toEqual(later)

  const [message] = (await store.messages({})).slice(-1)
  expect(message?.message).toMatchObject({
    job: 'acme',
    date,
    sections: [
      {
        title: 'acme.com',
        lines: [{ label: 'Visibility' }, { label: 'Average position' }, { label: 'Top 10' }],
      },
      {
        title: 'The week',
        lines: [{ label: 'Runs', value: '3' }, { label: 'Coverage' }, { label: 'Spent' }, {}],
      },
    ],
  })
})

test('a run whose digest is due sends it before it ends', async () => {
  const { place } = await staged({ sites: ['acme.com'] })
  const { url, received } = await aReceiver()
  await place.file(
    'rankline.yaml',
    'channels: { ops: { type: webhook, url_env: OPS_URL }, chat: { type: slack, url_env: OPS_URL } }\n',
  )
  await place.file(
    'acme.yaml',
    `${job}`.replace('mon 08:00', 'day 08:00').replace('" }', '", to: [ops, chat] }'),
  )
  expect(await place.call(['run', 'acme.yaml'], { OPS_URL: url })).toMatchObject({ code: 0, stderr: '' })
  expect(received).toEqual([])
  place.change(`UPDATE runs_ SET started_at = started_at - ${2 * dayMs}, date = date(date, '-2 days')`)
  expect(await place.call(['run', 'acme.yaml'], { OPS_URL: url })).toMatchObject({ code: 0, stderr: '' })
  const bodies = received.map(({ body }) => JSON.parse(body))
  expect(bodies).toHaveLength(2)
  expect(bodies.find(({ type }) => type === 'rankline.digest')).toMatchObject({ data: { job: 'acme' } })
  expect(bodies.find(({ blocks }) => blocks !== undefined)?.text).toMatch(
    /^acme: the week until \d{4}-\d\d-\d\d/,
  )
})
