import type { NewAnswer } from '../store/answers.ts'
import { type Packed, pack } from '../store/packing.ts'
import type { Filer, ReadAnswerOf, ReadTask, Settled } from './filer.ts'
import { type Asked, readingOf } from './understood.ts'

/** A body as it came, beside the answer in which it is to be kept. */
export interface Arrived extends Omit<NewAnswer, keyof Packed> {
  readonly plain: Uint8Array
  /** What was asked for. */
  readonly asked: Asked
}

/** An answer that is stored whole. */
export interface Kept {
  readonly answerId: number
  /** Why it cannot be used; null where it can. */
  readonly problem: string | null
}

/** Packs bodies and has them filed, then reads them. Plain data goes in and comes out: it may be in a thread of its own. */
export interface Keeper {
  /** Keeps a body whole, then looks whether it can be used. To be followed by `read`. */
  keep(arrived: Arrived): Promise<Kept>
  /** Reads the answer of a task; null where it is left to whoever goes on, for the disk is full or its body is damaged. */
  read(task: ReadTask): Promise<Settled | null>
}

export function openKeeper(filer: Pick<Filer, 'file' | 'note' | 'read'>): Keeper {
  /** What was just kept need not be fetched, unpacked and understood again. */
  const fresh = new Map<number, ReadAnswerOf['says']>()
  return {
    keep: async ({ plain, asked, ...answer }) => {
      // Between threads a buffer becomes a plain array of bytes.
      const body = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
      const answerId = await filer.file({ ...answer, ...(await pack(body)) })
      const says = readingOf(asked, body, answer.fetchedAt)
      fresh.set(answerId, says)
      return { answerId, problem: 'reason' in says ? says.reason : null }
    },
    read: async (task) => {
      const says = fresh.get(task.answerId)
      fresh.delete(task.answerId)
      if (says === undefined) return await filer.read(task)
      const { taskId, runId, queryId, page, answerId } = task
      return await filer.note({ taskId, runId, queryId, page, answerId, says })
    },
  }
}
