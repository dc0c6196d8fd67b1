import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { queriesCsv, type Workspace, workspace } from './rankline.ts'

/** A sandbox, and a workspace that calls it. */
export interface Stage extends AsyncDisposable {
  readonly sandbox: Sandbox
  readonly place: Workspace
}

/** A database in which nothing is stored: to make one takes as long as half a test, so each is a copy of the first. */
let empty: Promise<Buffer> | null = null

/** @param database whether there is one, in which nothing is stored, or the first run makes it */
export async function stage(
  options?: Parameters<typeof startSandbox>[0],
  database: 'empty' | 'missing' = 'empty',
): Promise<Stage> {
  const sandbox = await startSandbox(options)
  const place = await workspace(sandbox)
  if (database === 'empty') await putEmptyDatabase(place)
  return {
    sandbox,
    place,
    [Symbol.asyncDispose]: async () => {
      await place[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}

/** Puts a database into a workspace that has none, in which nothing is stored. */
export async function putEmptyDatabase({ folder }: Workspace): Promise<void> {
  empty ??= emptyDatabase()
  await writeFile(join(folder, 'data/rankline.db'), await empty)
}

async function emptyDatabase(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-empty-'))
  const path = join(folder, 'rankline.db')
  await (await openStore(path))[Symbol.asyncDispose]()
  const file = await readFile(path)
  await rm(folder, { recursive: true })
  return file
}

/** Makes something once for the tests of a file or a suite; each of them finds its workspace as it was made. */
export function madeOnce<World extends AsyncDisposable & { readonly place: Workspace }>(
  make: () => Promise<World>,
): () => World {
  let world: World
  let copy: string
  beforeAll(async () => {
    world = await make()
    copy = await mkdtemp(join(tmpdir(), 'rankline-copy-'))
    await cp(world.place.folder, copy, { recursive: true })
  }, 60_000)
  beforeEach(async () => {
    const { folder } = world.place
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
    await cp(copy, folder, { recursive: true })
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await rm(copy, { recursive: true })
  })
  return () => world
}

/** What collects the job. */
export const collecting: readonly string[] = ['run', 'job.csv', '--target', 'northdesk.example']

/** A workspace with `job.csv`, three queries that were collected once for a target, and the service that was called. */
export async function collectedJob(): Promise<Stage> {
  const staged = await stage()
  const { place } = staged
  await place.file('job.csv', queriesCsv(3))
  const { code, stderr } = await place.call(collecting)
  if (code !== 0) throw new Error(`rankline ${collecting.join(' ')}: ${code}\n${stderr}`)
  return staged
}
