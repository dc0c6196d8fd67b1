import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Channel } from '../../src/model/settings.ts'
import { openChannel } from '../../src/unattended/channels/index.ts'
import { aMessage, anAlert, around, hostile } from './receivers.ts'

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-channel-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function sender(channel: Channel, folder: string) {
  const opened = openChannel(channel, around({}, { folder }))
  if ('missing' in opened) throw new Error(opened.missing)
  return opened.send
}

const line = (text?: string) => {
  const { id, content } = aMessage(text === undefined ? undefined : [anAlert({ text })])
  return { id, type: 'rankline.alerts', timestamp: '2026-11-23T06:00:00.123Z', data: content.message }
}

test('a file gets a whole line for each message, also after a line that was cut short', async () => {
  const folder = await aFolder()
  const send = sender({ type: 'file', path: 'alerts.jsonl' }, folder)
  for (const text of hostile)
    expect(await send(aMessage([anAlert({ text })]), 1_000)).toMatchObject({ ok: true })
  const file = join(folder, 'alerts.jsonl')
  await appendFile(file, '{"id":"msg_cut sho')
  expect(await send(aMessage(), 1_000)).toMatchObject({ ok: true })
  const lines = (await readFile(file, 'utf8')).split('\n')
  expect(lines).toHaveLength(hostile.length + 3)
  expect(lines.slice(0, hostile.length).map((one) => JSON.parse(one))).toEqual(hostile.map(line))
  expect(JSON.parse(lines.at(-2) as string)).toEqual(line())
  expect(lines.at(-1)).toBe('')
})

test('messages that are appended at the same time are lines of their own', async () => {
  const folder = await aFolder()
  const send = sender({ type: 'file', path: 'alerts.jsonl' }, folder)
  const long = 'x'.repeat(50_000)
  await Promise.all(Array.from({ length: 20 }, () => send(aMessage([anAlert({ text: long })]), 1_000)))
  const lines = (await readFile(join(folder, 'alerts.jsonl'), 'utf8')).trimEnd().split('\n')
  expect(lines.map((one) => JSON.parse(one))).toEqual(Array(20).fill(line(long)))
})

test('a file that cannot be written is a reason', async () => {
  const folder = await aFolder()
  await mkdir(join(folder, 'folder'))
  const missing = sender({ type: 'file', path: 'none/alerts.jsonl' }, folder)
  expect(await missing(aMessage(), 1_000)).toMatchObject({
    reason: 'none/alerts.jsonl cannot be written (ENOENT)',
  })
  const notFile = sender({ type: 'file', path: 'folder' }, folder)
  expect(await notFile(aMessage(), 1_000)).toMatchObject({ reason: 'folder is not a regular file' })
})

const node = process.execPath

test('a command gets the message, its arguments as they stand, and no shell', async () => {
  const folder = await aFolder()
  await writeFile(
    join(folder, 'notify.mjs'),
    `import { writeFileSync } from 'node:fs'
     let text = ''
     for await (const chunk of process.stdin) text += chunk
     writeFileSync('seen.json', JSON.stringify([process.argv.slice(2), JSON.parse(text), process.env.RANKLINE_API_KEY]))`,
  )
  const args = ['$(touch pwned)', '; touch pwned', '--x=*', '']
  const send = sender({ type: 'exec', command: [node, 'notify.mjs', ...args] }, folder)
  expect(await send(aMessage(), 20_000)).toEqual({ ok: true, remark: null })
  expect(JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8'))).toEqual([args, line(), null])
  await expect(readFile(join(folder, 'pwned'))).rejects.toThrow('ENOENT')
})

test('why a command failed is its exit code and the first line that it wrote', async () => {
  const folder = await aFolder()
  const run = (...command: string[]) => sender({ type: 'exec', command }, folder)(aMessage(), 20_000)
  expect(
    await run(node, '-e', 'console.error("\\n no\\tsuch room \\nmore"); process.exitCode = 3'),
  ).toMatchObject({
    ok: false,
    reason: `${node} ended with exit code 3: no such room`,
  })
  expect(await run('sh', '-c', 'kill -9 $$')).toMatchObject({ reason: 'sh was ended by SIGKILL' })
  expect(await run('no-such-program')).toMatchObject({
    reason: expect.stringMatching(/^no-such-program was not found/),
  })
  // It ends without reading what it is sent.
  const long = sender({ type: 'exec', command: ['true'] }, folder)
  expect(await long(aMessage([anAlert({ text: 'x'.repeat(500_000) })]), 20_000)).toMatchObject({ ok: true })
})

test('a command that does not end is ended, with what it has started', async () => {
  const folder = await aFolder()
  const send = sender({ type: 'exec', command: ['sh', '-c', 'sleep 600 & echo $! > child; wait'] }, folder)
  expect(await send(aMessage(), 300)).toMatchObject({ reason: 'sh did not end within 0.3 s' })
  const pid = Number(await readFile(join(folder, 'child'), 'utf8'))
  await expect.poll(() => isRunning(pid)).toBe(false)
})

/** One that has ended and that its new parent has not looked at yet does not run any more. */
async function isRunning(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return state !== null && !/\) [ZX] /.test(state)
}
