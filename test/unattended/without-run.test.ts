import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sendWithoutRun } from '../../src/unattended/messages/digest.ts'
import { aJob } from '../run/build.ts'
import { aStore, hour, noon, plan, text } from '../store/build.ts'
import { anAlert, around } from './receivers.ts'

const minute = 60_000

test('between runs what waits is sent, digests too, and a trouble that lasts is said once', async () => {
  const { store, path } = await aStore()
  const folder = dirname(path)
  const settings = aJob({
    file: join(folder, 'acme.yaml'),
    digest: { cron: '0 8 * * *', to: ['log'] },
  })
  await writeFile(
    join(folder, 'rankline.yaml'),
    'channels: { log: { type: file, path: alerts.jsonl }, chat: { type: slack, url_env: CHAT } }\n',
  )
  await store.nameJob(settings.name, settings.file)
  await plan(store, { queries: text('a') })
  const alerts = { kind: 'alerts', message: { job: 'acme', run: 1, alerts: [anAlert()] } } as const
  for (const channel of ['log', 'chat'])
    await store.putMessages([{ ...alerts, identity: channel, channel, job: 'acme', runId: 1 }], noon)

  let now = noon
  const lines: string[] = []
  const look = sendWithoutRun({
    database: path,
    clock: { wall: () => now, monotonic: () => now },
    outgoing: () => around({}),
    log: (line) => void lines.push(line),
  })
  const sent = async (): Promise<readonly string[]> => {
    await look([settings])
    const file = await readFile(join(folder, 'alerts.jsonl'), 'utf8')
    return file
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type)
  }
  expect(await sent()).toEqual(['rankline.alerts'])
  const trouble = 'Channel chat: CHAT is not set. Set it in the environment or in .env. 1 message waits.'
  expect(lines).toEqual([trouble])
  now += minute
  expect(await sent()).toEqual(['rankline.alerts'])
  expect(lines).toEqual([trouble])
  // The next morning at eight.
  now = noon + 20 * hour
  expect(await sent()).toEqual(['rankline.alerts', 'rankline.digest'])
  now += minute
  expect(await sent()).toEqual(['rankline.alerts', 'rankline.digest'])
  expect(lines).toEqual([trouble])
})

test('where there is no database nothing is made, and nothing is said', async () => {
  const lines: string[] = []
  const look = sendWithoutRun({
    database: '/nowhere/rankline.db',
    clock: { wall: () => noon, monotonic: () => 0 },
    outgoing: () => around({}),
    log: (line) => void lines.push(line),
  })
  await look([aJob({ digest: { cron: '0 8 * * *', to: ['log'] } })])
  expect(lines).toEqual([])
})
