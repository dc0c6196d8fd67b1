import type { Database } from 'better-sqlite3'
import QuickLRU from 'quick-lru'
import {
  type CompressedBody,
  compressAtOnce,
  compressTogether,
  decompress,
  decompressTogether,
  inOneBlock,
} from '../../compression.ts'
import type { NewAnswer } from '../../journal.ts'
import { inserter, insertOrFail, named, raw, type Value } from '../connection/statements.ts'
import { answers, bodyBlocks, rawAnswers } from '../schema.ts'

/** The encoding of a body that is in a block. */
const inBlock = 'block'

const ofBlock = (what: string): string =>
  raw`(SELECT ${what} FROM ${bodyBlocks} k WHERE k.${bodyBlocks.id} = ${rawAnswers}.${rawAnswers.blockId})`

/** What a body is read from: it was compressed by itself, or with others. */
export const storedBody = `${named(raw`${rawAnswers}`, {
  answerId: rawAnswers.answerId,
  encoding: rawAnswers.encoding,
  body: rawAnswers.body,
  blockId: rawAnswers.blockId,
})}, ${ofBlock(bodyBlocks.block.name)} AS block, ${ofBlock(bodyBlocks.bodies.name)} AS bodies`

/** How much room a body takes: in a block, its share. */
export const bodyBytes = raw`coalesce(${ofBlock(raw`length(${bodyBlocks.block}) / ${bodyBlocks.bodies}`)},
  length(${rawAnswers}.${rawAnswers.body}))`

export type StoredBodyRow = CompressedBody & {
  readonly answerId: number
  readonly blockId: number | null
  readonly block: Buffer | null
  readonly bodies: number | null
}

/** Blocks that stay unpacked: who reads one body mostly reads its neighbours soon, or those of the same query on other days. */
const unpackedBlocks = 32

/** Makes a function that unpacks bodies. It throws where one was damaged since it was stored. */
export function bodyReader(): (row: StoredBodyRow) => Buffer {
  const known = new QuickLRU<number, { readonly block: Buffer; readonly bodies: readonly Buffer[] }>({
    maxSize: unpackedBlocks,
  })
  return ({ answerId, encoding, body, blockId, block, bodies }) => {
    if (encoding !== inBlock || blockId === null) return decompress({ encoding, body })
    if (block === null || bodies === null) throw new Error('the block of the body is not stored')
    const before = known.get(blockId)
    const unpacked =
      before?.block.equals(block) === true ? before : { block, bodies: decompressTogether(block, bodies) }
    known.set(blockId, unpacked)
    const found = unpacked.bodies[answerId - blockId]
    if (found === undefined) throw new Error('the body is not in its block')
    return found
  }
}

/** Stores answers with their bodies inside a transaction; returns their numbers. */
export function answerWriter(db: Database): (stored: readonly NewAnswer[]) => readonly number[] {
  const { queryId, page, runId, callId, fetchedAt } = answers
  const addAnswers = inserter(db, raw`${answers} (${queryId}, ${page}, ${runId}, ${callId}, ${fetchedAt})`, 5)
  const add = db.prepare(
    raw`${insertOrFail} INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}) VALUES (?, ?, ?)`,
  )
  const addBlock = db.prepare(
    raw`${insertOrFail} INTO ${bodyBlocks} (${bodyBlocks.id}, ${bodyBlocks.bodies}, ${bodyBlocks.block}) VALUES (?, ?, ?)`,
  )
  const addToBlock = db.prepare(
    raw`${insertOrFail} INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}, ${rawAnswers.blockId})
      SELECT ${answers.id}, '${inBlock}', x'', ? FROM ${answers} WHERE ${answers.id} BETWEEN ? AND ?`,
  )

  const writeBodies = (first: number, bodies: readonly Buffer[]): void => {
    for (let from = 0; from < bodies.length; ) {
      const count = inOneBlock(bodies, from)
      const id = first + from
      if (count === 1) {
        const { encoding, body } = compressAtOnce(bodies[from] as Buffer)
        add.run(id, encoding, body)
      } else {
        addBlock.run(id, count, compressTogether(bodies.slice(from, from + count)))
        addToBlock.run(id, id, id + count - 1)
      }
      from += count
    }
  }

  return (stored) => {
    const values: Value[] = []
    for (const { task, callId, fetchedAt } of stored)
      values.push(task.queryId, task.page, task.runId, callId, fetchedAt)
    const first = addAnswers(values)
    const plain: Buffer[] = []
    for (const [place, { encoding, body }] of stored.entries()) {
      if (encoding === null) plain.push(body)
      else {
        writeBodies(first + place - plain.length, plain.splice(0))
        add.run(first + place, encoding, body)
      }
    }
    writeBodies(first + stored.length - plain.length, plain)
    return stored.map((_, place) => first + place)
  }
}
