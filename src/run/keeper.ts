import type { Task } from '../model/task.ts'
import type { NewAnswer } from '../store/answers.ts'
import { type Packed, pack } from '../store/packing.ts'
import type { Filed, Filer } from './filer.ts'
import { understoodOf } from './understood.ts'

/** A body as it came, beside the answer in which it is to be kept. */
export interface Arrived extends Omit<NewAnswer, keyof Packed>, Pick<Task, 'operation' | 'params'> {
  readonly plain: Uint8Array
}

/** Packs and reads bodies, and has both filed. Plain data goes in and comes out: it may be in a thread of its own. */
export interface Keeper {
  keep(arrived: Arrived): Promise<Filed>
}

export function openKeeper(filer: Pick<Filer, 'file'>): Keeper {
  return {
    keep: async ({ plain, operation, params, ...answer }) => {
      // Between threads a buffer becomes a plain array of bytes.
      const body = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
      const understood = understoodOf({ operation, params }, body, answer.fetchedAt)
      return await filer.file({ ...answer, ...(await pack(body)), understood })
    },
  }
}
