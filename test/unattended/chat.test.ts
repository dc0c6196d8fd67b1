import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  discordMessage,
  openChannel,
  slackMessage,
  teamsMessage,
} from '../../src/unattended/channels/index.ts'
import { type Letter, letters } from '../../src/unattended/channels/letter.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'
import { aMessage, anAlert, aReceiver, around, hostile } from './receivers.ts'

const ready = (opened: ReturnType<typeof openChannel>) => {
  if ('missing' in opened) throw new Error(opened.missing)
  return opened.send
}

describe.each(['slack', 'discord', 'teams'] as const)('%s', (type) => {
  test('is sent one POST with JSON, and what it answers decides', async () => {
    const { url, received, answers } = await aReceiver()
    const send = ready(openChannel({ type, urlEnv: 'CHAT' }, around({ CHAT: `${url}/secret/path?x=1` })))
    answers.push(
      200,
      503,
      { status: 429, headers: { 'retry-after': '1.5' } },
      { status: 404, body: 'no_service' },
    )
    answers.push({ status: 302, headers: { location: `${url}/elsewhere` } })
    expect(await send(aMessage(), 5_000)).toEqual({ ok: true, remark: null })
    expect(await send(aMessage(), 5_000)).toMatchObject({ ok: false, reason: 'HTTP 503', isFinal: false })
    expect(await send(aMessage(), 5_000)).toMatchObject({ reason: 'HTTP 429', retryAfterMs: 1_500 })
    expect(await send(aMessage(), 5_000)).toMatchObject({ reason: 'HTTP 404 (no_service)' })
    expect(await send(aMessage(), 5_000)).toMatchObject({
      reason: expect.stringMatching(/redirect.* into CHAT$/),
    })
    expect(received).toHaveLength(5)
    expect(received[0]).toMatchObject({ method: 'POST', path: '/secret/path?x=1' })
    expect(received[0]?.headers['content-type']).toBe('application/json')
    expect(received[0]?.body).toContain('fell from 3 to 9')
  })

  test('a receiver that does not answer costs the time-out, and no reason repeats the address', async () => {
    const { url, answers } = await aReceiver()
    answers.push('hang')
    const at = (address: string) => ready(openChannel({ type, urlEnv: 'CHAT' }, around({ CHAT: address })))
    expect(await at(`${url}/secret`)(aMessage(), 200)).toMatchObject({ reason: 'no answer within 0.2 s' })
    const { reason } = (await at('http://127.0.0.1:1/secret')(aMessage(), 5_000)) as { reason: string }
    expect(reason).toBe('the connection was refused')
  })
})

test('an address that is missing, none, or in the clear is said with its variable and nothing of itself', () => {
  const opened = (CHAT?: string) =>
    openChannel({ type: 'slack', urlEnv: 'CHAT' }, around(CHAT === undefined ? {} : { CHAT }))
  expect(opened()).toEqual({ missing: 'CHAT is not set. Set it in the environment or in .env' })
  expect(opened('hooks.slack.com/T0/secret')).toEqual({
    missing: 'The address in CHAT is not a web address: write https://…',
  })
  expect(opened('http://hooks.example/T0/secret')).toEqual({
    missing:
      'The address in CHAT would be asked in the clear: write https://, or add --allow-http if that is meant',
  })
  expect(opened('https://hooks.example/T0/secret')).toHaveProperty('send')
})

const letter = (lines: readonly string[]): Letter =>
  letters.of(aMessage(lines.map((text) => anAlert({ text }))).content)

testTable(hostile.map((text) => [text]))('in chats %j is text and nothing else', (text) => {
  const slack = JSON.stringify(slackMessage(letter([text, text])))
  expect(slack).not.toMatch(/[<>]/)
  const discord = discordMessage(letter([text, text]))
  expect(discord.allowed_mentions).toEqual({ parse: [] })
  expect(discord.content).not.toMatch(/@(everyone|here|&)|(?<!\\)[<[\]]|(?<!\\)`/)
  const teams = JSON.stringify(teamsMessage(letter([text, text])))
  expect(teams).not.toContain('"TextBlock"')
  for (const body of [slack, discord.content, teams]) expect(body).not.toMatch(/[\r\u2028\u202e]/)
})

const anyLines = fc.array(fc.oneof(anyText({ maxLength: 600 }), fc.constantFrom(...hostile)), {
  minLength: 1,
  maxLength: 400,
})

function expectToFit(lines: readonly string[]): void {
  const { blocks } = slackMessage(letter(lines))
  expect(blocks.length).toBeLessThanOrEqual(50)
  for (const { text } of blocks) {
    expect(text.text.length).toBeLessThanOrEqual(3_000)
    expect(text.text).not.toBe('')
  }
  expect(discordMessage(letter(lines)).content.length).toBeLessThanOrEqual(2_000)
  expect(Buffer.byteLength(JSON.stringify(teamsMessage(letter(lines))))).toBeLessThanOrEqual(28 * 1024)
}

test('however much there is to say, each chat takes it, and what is left out is counted', () => {
  fc.assert(
    fc.property(anyLines, (lines) => {
      expectToFit(lines)
    }),
    { numRuns: 50 },
  )
  for (const text of [...hostile, '&'.repeat(2_000)]) expectToFit(Array(400).fill(text))
})

test('what is left out is counted', () => {
  const lines = Array.from({ length: 400 }, (_, place) => `line ${place} ${'x'.repeat(100)}`)
  const counted = (text: string) => (text.match(/line \d+ x/g) ?? []).length
  for (const written of [
    discordMessage(letter(lines)).content,
    JSON.stringify(slackMessage(letter(lines))),
    JSON.stringify(teamsMessage(letter(lines))),
  ]) {
    expect(counted(written)).toBeGreaterThan(10)
    expect(written).toContain(`and ${400 - counted(written)} more lines`)
  }
})

test('a letter begins with what is new, then tells what is over', () => {
  expect(
    letters.of(aMessage([anAlert({ state: 'over', text: 'b' }), anAlert({ text: 'a' })]).content),
  ).toEqual({
    subject: 'acme: 1 alert, 1 over',
    title: 'acme: 1 alert, 1 over',
    sections: [
      { heading: null, lines: ['Report: rankline report acme'] },
      { heading: 'New', lines: ['a · mute: rankline alerts mute 0123456789ab --until 7d'] },
      { heading: 'Over', lines: ['b'] },
    ],
  })
  const details = {
    ...{ locale: 'en-us Austin', url: `https://acme.com/${'a'.repeat(400)}`, volume: 2_400 },
    ...{ clicks: 100, there_now: 'rival.com' },
  }
  const told = aMessage([anAlert({ ...details, text: 'a' })])
  const ofClient = { ...told.content.message, job: "Acme's", client: 'Acme Inc.' }
  expect(letters.of({ kind: 'alerts', message: ofClient })).toEqual({
    subject: "Acme's (Acme Inc.): 1 alert: a",
    title: "Acme's (Acme Inc.): 1 alert",
    sections: [
      { heading: null, lines: [`Report: rankline report 'Acme'"'"'s'`] },
      {
        heading: null,
        lines: [
          `a · en-us Austin · https://acme.com/${'a'.repeat(102)}… · 2,400 searches a month · rival.com is there now · mute: rankline alerts mute 0123456789ab --until 7d`,
        ],
      },
    ],
  })
  const [, long] = letter(['x'.repeat(900)]).sections
  expect(long?.lines[0]).toMatch(/^x+… · mute: rankline alerts mute 0123456789ab --until 7d$/)
  expect(letter(['a\nb'])).toMatchObject({ subject: 'acme: 1 alert: a b', title: 'acme: 1 alert' })
})

test('a report that was put in for a mailbox is text where the channel has become another one', () => {
  const message = {
    ...{ job: 'acme', subject: 'Acme: steady', html: '<p>Figures</p>', pictures: {} },
    text: 'Figures\n-------\n\n- Visibility: 4 %\n',
  }
  expect(letters.of({ kind: 'report', message })).toEqual({
    ...{ subject: 'Acme: steady', title: 'Acme: steady' },
    sections: [{ heading: null, lines: ['Figures', '-------', '- Visibility: 4 %'] }],
  })
})
