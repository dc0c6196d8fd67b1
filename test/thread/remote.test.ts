import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { RanklineError, UsageError } from '../../src/errors.ts'
import { inBatches } from '../../src/thread/messages.ts'
import { remote } from '../../src/thread/remote.ts'
import { serve } from '../../src/thread/serve.ts'

/** Two ends of a way that is closed after the test. */
function ends(): { readonly here: MessagePort; readonly there: MessagePort } {
  const { port1: here, port2: there } = new MessageChannel()
  onTestFinished(() => here.close())
  return { here, there }
}

test('a method of an object takes and gives plain data, as if it were here', async () => {
  const { here, there } = ends()
  const add = async (a: number, b: number) => ({ sum: a + b })
  const bytes = (of: string) => new Map([[of, Buffer.from(of)]])
  serve(there, { sums: { add }, other: { add: () => 'not that one', bytes } })
  const far = remote(here)
  expect(await far.object<{ add: typeof add }>('sums').add(1, 2)).toEqual({ sum: 3 })
  const got = await far
    .object<{ bytes: (of: string) => Promise<Map<string, Uint8Array>> }>('other')
    .bytes('é')
  expect(Buffer.from(got.get('é') as Uint8Array).toString()).toBe('é')
})

test('what was foreseen arrives with its sentence and exit code, everything else as an error', async () => {
  const { here, there } = ends()
  serve(there, {
    errors: {
      full: () => Promise.reject(new RanklineError('The disk is full.', 6)),
      wrong: () => {
        throw new UsageError('Write a number')
      },
      bug: () => (null as unknown as { x: number }).x,
      text: () => Promise.reject('only text'),
    },
  })
  const errors = remote(here).object<Record<'full' | 'wrong' | 'bug' | 'text', () => Promise<void>>>('errors')
  await expect(errors.full()).rejects.toEqual(new RanklineError('The disk is full.', 6))
  await expect(errors.full()).rejects.toBeInstanceOf(RanklineError)
  await expect(errors.wrong()).rejects.toMatchObject({ message: 'Write a number', exitCode: 2 })
  const bug: unknown = await errors.bug().catch((error: unknown) => error)
  expect(bug).toBeInstanceOf(Error)
  expect(bug).not.toBeInstanceOf(RanklineError)
  expect((bug as Error).stack).toContain('remote.test.ts')
  await expect(errors.text()).rejects.toThrow('only text')
})

test('what is handed over in one turn arrives together, in its order, and is begun before anything else happens', async () => {
  const { here, there } = ends()
  const seen: string[] = []
  let messages = 0
  there.on('message', () => {
    messages += 1
  })
  const note = async (name: string) => {
    seen.push(`begin ${name}`)
    await null
    seen.push(`end ${name}`)
  }
  serve(there, { notes: { note } })
  const notes = remote(here).object<{ note: typeof note }>('notes')
  await Promise.all([notes.note('a'), Promise.resolve().then(() => notes.note('b')), notes.note('c')])
  expect(messages).toBe(1)
  expect(seen).toEqual(['begin a', 'begin c', 'begin b', 'end a', 'end c', 'end b'])
})

test('an end that is gone rejects what is under way and what is asked later', async () => {
  const { here, there } = ends()
  serve(there, { slow: { never: () => new Promise(() => {}) } })
  const far = remote(here)
  const slow = far.object<{ never: () => Promise<void> }>('slow')
  const under = slow.never()
  far.broken(new Error('It fell over'))
  await expect(under).rejects.toThrow('It fell over')
  await expect(slow.never()).rejects.toThrow('It fell over')
})

test('an object of another thread can be returned from a promise', async () => {
  const { here, there } = ends()
  serve(there, { one: { two: () => 2 } })
  const one = await Promise.resolve(remote(here).object<{ two: () => Promise<number> }>('one'))
  expect(await one.two()).toBe(2)
})

test('what is handed over together arrives as one message, however much it is', async () => {
  const { here, there } = ends()
  const sizes: number[] = []
  there.on('message', (batch: readonly unknown[]) => sizes.push(batch.length))
  const say = inBatches<number>(here, setImmediate)
  for (let number = 0; number < 10; number++) say(number)
  await once(there, 'message')
  expect(sizes).toEqual([10])
})

test('plenty of it does not wait for the rest of the turn', async () => {
  const { here, there } = ends()
  const got: unknown[] = []
  there.on('message', (batch: readonly unknown[]) => got.push(batch))
  const moments: (() => void)[] = []
  const say = inBatches<number>(here, (post) => moments.push(post))
  for (const one of [1, 2, 3]) say(one)
  await new Promise(setImmediate)
  expect(got).toEqual([])
  say(4)
  await once(there, 'message')
  expect(got).toEqual([[1, 2, 3, 4]])
  say(5)
  for (const post of moments) post()
  await once(there, 'message')
  expect(got).toEqual([[1, 2, 3, 4], [5]])
})
