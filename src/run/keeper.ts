import type { NewAnswer } from '../store/answers.ts'
import { type Packed, pack } from '../store/packing.ts'
import type { Filer, ReadTask, Settled } from './filer.ts'
import { readingOf } from './understood.ts'

/** A body as it came, beside the answer in which it is to be kept. */
export interface Arrived extends Omit<NewAnswer, keyof Packed> {
  readonly plain: Uint8Array
}

/** Packs bodies and has them filed, then reads them. Plain data goes in and comes out: it may be in a thread of its own. */
export interface Keeper {
  /** Keeps a body whole; answers the id of the answer. To be followed by `read`, once it is safe. */
  keep(arrived: Arrived): Promise<number>
  /** Reads the answer of a task; null where it is left to whoever goes on, for the disk is full or its body is gone. */
  read(task: ReadTask): Promise<Settled | null>
}

export function openKeeper(filer: Pick<Filer, 'file' | 'note' | 'read'>): Keeper {
  /** What was just kept need not be fetched and unpacked to be read. */
  const fresh = new Map<number, { readonly body: Buffer; readonly fetchedAt: number }>()
  return {
    keep: async ({ plain, ...answer }) => {
      // Between threads a buffer becomes a plain array of bytes.
      const body = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
      const answerId = await filer.file({ ...answer, ...(await pack(body)) })
      fresh.set(answerId, { body, fetchedAt: answer.fetchedAt })
      return answerId
    },
    read: async (task) => {
      const known = fresh.get(task.answerId)
      fresh.delete(task.answerId)
      if (known === undefined) return await filer.read(task)
      const { taskId, runId, queryId, page, answerId } = task
      const says = readingOf(task, known.body, known.fetchedAt)
      return await filer.note({ taskId, runId, queryId, page, answerId, says })
    },
  }
}
