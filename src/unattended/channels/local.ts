import { spawn } from 'node:child_process'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Channel } from '../../model/settings/workspace.ts'
import {
  type ChannelContext,
  type ChannelMessage,
  documentOf,
  failed,
  type OpenChannel,
  type Sent,
  sent,
} from './channel.ts'
import { cut, oneLine } from './letter.ts'

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

/** A command of the user's, with the message as JSON on its standard input. Its arguments are a list: no shell reads them. */
export const openExec: OpenChannel<Channel & { readonly type: 'exec' }> = ({ command }, around) => ({
  send: (message, timeoutMs) => runCommand(command, message, timeoutMs, around),
})

/** Of what a command says about itself so much is kept. */
const mostOutput = 10_000

function runCommand(
  [program = '', ...args]: readonly string[],
  message: ChannelMessage,
  timeoutMs: number,
  { folder, commandEnvironment }: ChannelContext,
): Promise<Sent> {
  return new Promise((resolve) => {
    // In a group of its own, so that what it has started ends with it.
    const group = process.platform !== 'win32'
    const child = spawn(program, args, {
      cwd: folder,
      env: commandEnvironment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      shell: false,
      detached: group,
      windowsHide: true,
    })
    let said = ''
    let isOver = false
    const end = (result: Sent): void => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      child.stderr.destroy()
      resolve(result)
    }
    const late = setTimeout(() => {
      kill(child.pid, group)
      end(failed(`${program} did not end within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      end(
        failed(
          code === 'ENOENT'
            ? `${program} was not found; check the command and the folder it is started in, ${folder}`
            : `${program} cannot be started (${code ?? 'unknown error'})`,
        ),
      ),
    )
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < mostOutput) said += text
    })
    // A command need not read what it is sent.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify({ id: message.id, ...documentOf(message) })}\n`)
    const after = (code: number | null, signal: NodeJS.Signals | null): void => {
      const first = said
        .split('\n')
        .map(oneLine)
        .find((line) => line !== '')
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
      end(code === 0 ? sent : failed(`${program} ${how}${first === undefined ? '' : `: ${cut(first, 200)}`}`))
    }
    // Something it has left running may hold its output open: then its end is enough, a moment later.
    child.on('exit', (code, signal) => setTimeout(after, 200, code, signal).unref())
    child.on('close', after)
  })
}

function kill(pid: number | undefined, group: boolean): void {
  if (pid === undefined) return
  try {
    process.kill(group ? -pid : pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
