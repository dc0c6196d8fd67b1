import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nextSlot } from '../../src/schedule/slots.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { queueDigests } from '../../src/unattended/messages/digest.ts'
import { decoded, parsed, partsOf } from '../report/formats/email/message.ts'
import { aMailServer, aReceiver, type Mail } from '../unattended/receivers.ts'
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
  const lines: string[] = []
  const told = async (at: number): Promise<readonly string[]> => {
    await queueDigests([settings], { store, clock: { wall: () => at }, log: (line) => void lines.push(line) })
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

  expect(lines).toEqual([])

  const [message] = (await store.messages({})).slice(-1)
  expect(message?.message).toMatchObject({
    job: 'acme',
    date,
    sections: [
      {
        title: 'acme.com',
        sentences: [expect.stringContaining('“'), expect.any(String), expect.any(String)],
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
  const chat = bodies.find(({ blocks }) => blocks !== undefined)
  expect(chat?.text).toMatch(/^acme: the week until \d{4}-\d\d-\d\d/)
  // The words of the report, in front of its figures.
  const shown = await place.call(['report', 'acme', '--period', '7d', '--format', 'md'], {})
  const [first = ''] = /(?<=^- ).+$/m.exec(shown.stdout) ?? []
  expect(first).not.toBe('')
  expect(JSON.stringify(chat)).toContain(JSON.stringify(first).slice(1, -1))
})

/** The mail that a digest is, after a second run, two days after the first. */
async function mailed(
  report: string,
  digest = '',
): Promise<{ raw: string; to: readonly string[]; stderr: string }> {
  const { place } = await staged({ sites: ['acme.com'] })
  const { port, mails } = await aMailServer()
  const settings = { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'Acme SEO <seo@north.example>' }
  await place.file('rankline.yaml', 'channels: { mail: { type: email, to: [anna@acme.com] } }\n')
  const text = job.replace('mon 08:00" }', `day 08:00", to: [mail]${digest} }`)
  await place.file('acme.yaml', `${text}${report}`)
  expect(await place.call(['run', 'acme.yaml'], settings)).toMatchObject({ code: 0, stderr: '' })
  place.change(`UPDATE runs_ SET started_at = started_at - ${2 * dayMs}, date = date(date, '-2 days')`)
  const { code, stderr } = await place.call(['run', 'acme.yaml'], settings)
  expect(code).toBe(0)
  expect(mails).toHaveLength(1)
  const [{ raw, to }] = mails as [Mail]
  return { raw, to, stderr }
}

test('as mail a digest is the report of the job, and says what the week came to', async () => {
  const { raw, to, stderr } = await mailed('report: { title: Desks, client: Acme Inc. }\n')
  expect({ to, stderr }).toEqual({ to: ['anna@acme.com'], stderr: '' })
  const { headers } = parsed(raw)
  expect(headers.get('from')).toBe('Acme SEO <seo@north.example>')
  expect(decoded(headers.get('subject') ?? '')).toMatch(/^Acme Inc\.: \S/)
  expect(headers.has('x-unsent')).toBe(false)
  const { text, html } = partsOf(raw)
  expect(text).toMatch(/^Desks\nfor Acme Inc\./)
  expect(text).toContain('In short')
  expect(text).toMatch(
    /The week\n-+\n\n- Runs: 2\n- Coverage: 100.0% \(\d+ of \d+ tasks\)\n- Spent: \d+ credits/,
  )
  expect(html).toMatch(/<h1 [^>]*>Desks<[\s\S]*The week[\s\S]*Open alerts/)
})

test('a client is mailed the report alone, in the language of the job, without a logo that is missing', async () => {
  const { raw, stderr } = await mailed(
    'report: { client: Acme GmbH, logo: missing.png, language: de, period: 2020-01-01..2020-01-31 }\n',
    ', for: client',
  )
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(
      /^The digest of acme is sent without its logo\. The logo .*missing\.png cannot be read\. /,
    ),
    expect.stringMatching(
      /^The digest of acme tells of the last seven days\. The job acme has no run from 2020-01-01 to 2020-01-31; /,
    ),
    '',
  ])
  const { text, html } = partsOf(raw)
  expect(text).toMatch(/^Ranking-Bericht für Acme GmbH\n/)
  for (const part of [text, html]) {
    expect(part).toContain('Sichtbarkeit')
    expect(part).not.toMatch(/Woche|Credits|Läufe|alpha\./)
  }
})
