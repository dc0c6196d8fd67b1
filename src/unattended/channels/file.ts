import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Channel } from '../../model/settings/workspace.ts'
import { documentOf, failed, type OpenChannel, sent } from './channel.ts'

const lineFeed = 10

/** A line of JSON at the end of a file, on disk before the message counts as sent. */
export const openFile: OpenChannel<Channel & { readonly type: 'file' }> = ({ path }, { folder }) => ({
  send: async (message) => {
    const file = resolve(folder, path)
    const line = `${JSON.stringify({ id: message.id, ...documentOf(message) })}\n`
    try {
      // To open a pipe would wait for its reader.
      const found = await stat(file).catch(() => null)
      if (found !== null && !found.isFile()) return failed(`${path} is not a regular file`)
      await using handle = await open(file, 'a+')
      const { size } = await handle.stat()
      const last = size === 0 ? lineFeed : await lastByte(handle, size)
      // A line that a crash or a full disk cut short ends here.
      await handle.appendFile(last === lineFeed ? line : `\n${line}`)
      await handle.sync()
      return sent
    } catch (error) {
      return failed(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
    }
  },
})

async function lastByte(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<number | undefined> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0]
}
