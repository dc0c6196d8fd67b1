import { expect, test } from 'vitest'
import type { Workspace } from '../../support/rankline.ts'
import { machines } from './machines.ts'

/** Instants differ between two machines; all else must not. */
const atNoon = `UPDATE observations SET observed_at = unixepoch(date('now')) * 1000;
  UPDATE answers_ SET fetched_at = unixepoch(date('now')) * 1000;
  UPDATE runs_ SET started_at = unixepoch(date('now')) * 1000, finished_at = unixepoch(date('now')) * 1000, duration_ms = 0`

const acme = `
timezone: UTC
depth: 30
targets: [acme.com, rival.com]
queries:
${Array.from({ length: 12 }, (_, index) => `  - thing ${index}`).join('\n')}
  - { query: widget, operation: beta.search }
  - { query: gadget, operation: alpha.images }
`

test('the same job gives the same report, byte for byte, on one machine, on several, and on one that only reads', async () => {
  const sites = ['acme.com', 'rival.com']
  const alone = await machines({ sites })
  const shared = await machines({ sites })
  const [one, several, reader] = [await alone.host(), await shared.host(), await shared.host()]
  await shared.worker()
  for (const [place, env] of [
    [one, {}],
    [several, shared.queue],
  ] as const) {
    await place.file('acme.yaml', acme)
    const { code, stderr } = await place.call(['run', 'acme.yaml'], env)
    expect([code, stderr]).toEqual([0, expect.anything()])
  }
  await reader.file('acme.yaml', acme)
  expect(await reader.call(['report', 'acme.yaml', '--sync'], shared.queue)).toMatchObject({ code: 0 })
  expect(shared.sandbox.ledger.charged).toBe(alone.sandbox.ledger.charged)

  const seen = async (place: Workspace): Promise<readonly string[]> => {
    place.change(atNoon)
    const texts: string[] = []
    for (const format of ['csv', 'json', 'md'])
      texts.push((await place.call(['report', 'acme.yaml', '--format', format])).stdout)
    texts.push((await place.call(['export', 'organic', '--format', 'jsonl'])).stdout)
    expect(await place.call(['report', 'acme.yaml', '--out', 'page.html'])).toMatchObject({ code: 0 })
    return [...texts, await place.read('page.html')]
  }
  const expected = await seen(one)
  expect(expected.map((text) => text.length > 1_000)).toEqual(expected.map(() => true))
  expect(await seen(several)).toEqual(expected)
  expect(await seen(reader)).toEqual(expected)
  for (const place of [several, reader])
    expect(await place.call(['ledger', 'verify'])).toMatchObject({ code: 0 })
})
