import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { main } from '../../src/cli/main.ts'
import { dotEnvFile, keyHash, outputSettings } from '../../src/run/config.ts'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { keyLock } from '../../src/store/sqlite/connection/lock.ts'
import { readBeside } from './stored-rows.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

/** A folder of its own with a `data` folder in it, where the real program is run. */
export interface Workspace extends AsyncDisposable {
  readonly folder: string
  /** Writes a file and answers its name. */
  file(name: string, text: string): Promise<string>
  read(name: string): Promise<string>
  start(args: readonly string[], env?: Environment, input?: string, within?: string): Started
  /**
   * Runs the program to its end.
   *
   * @param input what it reads from standard input
   * @param within folder below that of the workspace where it is run
   */
  run(args: readonly string[], env?: Environment, input?: string, within?: string): Promise<Ended>
  /**
   * Runs the sources on these arguments in this process, in a fifth of the time: output into pipes, and nothing on standard input where
   * nothing is given.
   */
  call(args: readonly string[], env?: Environment, input?: string, within?: string): Promise<Ended>
  /** Rows of a query over the database of the workspace. */
  sql<T = Record<string, unknown>>(query: string): readonly T[]
  /** Changes the database of the workspace by hand. */
  change(statement: string): void
}

type Environment = Readonly<Record<string, string>>

/** @param sandbox where calls go, unless the environment of a run says otherwise */
export async function workspace(sandbox?: Pick<Sandbox, 'url' | 'key'>): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-'))
  await mkdir(join(folder, 'data'))
  const service: Environment =
    sandbox === undefined ? {} : { RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: sandbox.key }

  const start: Workspace['start'] = (args, env = {}, input, within = '.') => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: join(folder, within),
      env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...service, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    child.stdin?.end(input)
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }))
    })
    return { child, ended }
  }

  return {
    folder,
    file: async (name, text) => {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
      return name
    },
    read: (name) => readFile(join(folder, name), 'utf8'),
    start,
    run: (args, env, input, within) => start(args, env, input, within).ended,
    call: (args, env, input, within = '.') =>
      callHere(join(folder, within), args, { NO_COLOR: '1', ...service, ...env }, input),
    sql: (query) => readBeside(join(folder, 'data/rankline.db'), query),
    change: (statement) => {
      const db = new Database(join(folder, 'data/rankline.db'))
      db.exec(statement)
      db.close()
    },
    [Symbol.asyncDispose]: async () => {
      await rm(folder, { recursive: true, force: true })
      if (sandbox === undefined) return
      const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
      for (const file of [lock, `${lock}.owner`]) await rm(file, { force: true })
    },
  }
}

/** Rows of a CSV file with one column `query`. */
export function queriesCsv(count: number, word = 'query'): string {
  return `query\n${Array.from({ length: count }, (_, index) => `${word} ${index + 1}`).join('\n')}\n`
}

/** The calls before: environment, working folder and standard input are of the whole process. */
let callsBefore: Promise<unknown> = Promise.resolve()

function callHere(
  folder: string,
  args: readonly string[],
  environment: Environment,
  input: string | undefined,
): Promise<Ended> {
  const called = callsBefore.then(async (): Promise<Ended> => {
    const [env, cwd] = [process.env, process.cwd()]
    const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor
    if (input !== undefined)
      Object.defineProperty(process, 'stdin', { ...stdin, get: () => Readable.from([Buffer.from(input)]) })
    const [stdout, stderr]: [string[], string[]] = [[], []]
    const decoder = new TextDecoder()
    process.env = { PATH: env.PATH, ...environment }
    process.chdir(folder)
    dotEnvFile.forget()
    try {
      const { color, ascii } = outputSettings()
      const code = await main(args, {
        write: async (data) => {
          stdout.push(typeof data === 'string' ? data : decoder.decode(data, { stream: true }))
        },
        log: (line) => void stderr.push(`${line}\n`),
        ...{ ask: null, status: null, columns: Number.POSITIVE_INFINITY, color, ascii },
      })
      return { code, stdout: stdout.join(''), stderr: stderr.join('') }
    } finally {
      process.chdir(cwd)
      dotEnvFile.forget()
      process.env = env
      Object.defineProperty(process, 'stdin', stdin)
    }
  })
  callsBefore = called.catch(() => {})
  return called
}
