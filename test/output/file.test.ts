import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { writeFileAtomically } from '../../src/output/file.ts'

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-report-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

test('a file is written whole, in UTF-8, and nothing is left beside it', async () => {
  const folder = await aFolder()
  await writeFileAtomically(join(folder, 'out.csv'), pieces('a,b\n', 'naïve,😀\n', ''))
  expect(readdirSync(folder)).toEqual(['out.csv'])
  expect(readFileSync(join(folder, 'out.csv'), 'utf8')).toBe('a,b\nnaïve,😀\n')
})

test('a file without pieces is empty', async () => {
  const folder = await aFolder()
  await writeFileAtomically(join(folder, 'out.csv'), pieces())
  expect(readFileSync(join(folder, 'out.csv'), 'utf8')).toBe('')
})

test('an old file is replaced at the end, and read until then as it was', async () => {
  const path = join(await aFolder(), 'out.csv')
  await writeFile(path, 'old and longer than the new one')
  async function* looking(): AsyncGenerator<string> {
    yield 'new'
    expect(readFileSync(path, 'utf8')).toBe('old and longer than the new one')
  }
  await writeFileAtomically(path, looking())
  expect(readFileSync(path, 'utf8')).toBe('new')
})

test.each([
  ['an old file stays as it was', 'old'],
  ['no file appears', null],
])('where the pieces fail half way %s, and nothing is left behind', async (_, old) => {
  const folder = await aFolder()
  const path = join(folder, 'out.csv')
  if (old !== null) await writeFile(path, old)
  async function* failing(): AsyncGenerator<string> {
    yield 'half'
    throw new Error('the database went away')
  }
  await expect(writeFileAtomically(path, failing())).rejects.toThrow('the database went away')
  expect(readdirSync(folder)).toEqual(old === null ? [] : ['out.csv'])
  if (old !== null) expect(readFileSync(path, 'utf8')).toBe(old)
})

test('a missing folder is said before anything is read', async () => {
  const folder = await aFolder()
  let read = false
  async function* reading(): AsyncGenerator<string> {
    read = true
    yield ''
  }
  const failed = writeFileAtomically(join(folder, 'no/such/out.csv'), reading())
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(`mkdir -p ${join(folder, 'no/such')}`)
  expect(read).toBe(false)
  expect(existsSync(join(folder, 'no'))).toBe(false)
})

test('a folder in place of the file is said, and stays', async () => {
  const folder = await aFolder()
  await mkdir(join(folder, 'reports'))
  const failed = writeFileAtomically(join(folder, 'reports'), pieces('x'))
  await expect(failed).rejects.toThrow(UsageError)
  expect(readdirSync(folder)).toEqual(['reports'])
})

test.skipIf(process.platform === 'win32')(
  'a disk that takes a part of a piece fails the whole file',
  async () => {
    const folder = await aFolder()
    const module = new URL('../../src/output/file.ts', import.meta.url)
    const program = `
    import { writeFileAtomically } from '${module}'
    async function* pieces() { yield 'x'.repeat(70_000) }
    const failed = ({ code }) => console.log(code)
    await writeFileAtomically('${join(folder, 'out.csv')}', pieces()).then(() => console.log('written'), failed)`
    // No file of this process may grow beyond 64 KB.
    const script = `trap '' XFSZ; ulimit -f 64; exec "$0" --import tsx --input-type=module -e "$1"`
    const cwd = fileURLToPath(new URL('../..', import.meta.url))
    const said = execFileSync('bash', ['-c', script, process.execPath, program], { cwd, encoding: 'utf8' })
    expect(said).toBe('EFBIG\n')
    expect(readdirSync(folder)).toEqual([])
  },
)

test.each([
  ['-wal', /is a database or a part of one/],
  ['-shm', /is a database or a part of one/],
  ['-journal', /is a database or a part of one/],
])('what SQLite keeps in a file %s is never replaced', async (ending, sentence) => {
  const database = join(await aFolder(), 'rankline.db')
  await writeFile(database, 'SQLite format 3\0')
  await writeFile(`${database}${ending}`, 'kept')
  const failed = writeFileAtomically(`${database}${ending}`, pieces('x'))
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(sentence)
  expect(readFileSync(`${database}${ending}`, 'utf8')).toBe('kept')
})

test('a file that only ends like one of SQLite is a file', async () => {
  const path = join(await aFolder(), 'acme-wal')
  await writeFile(path, 'old')
  await writeFileAtomically(path, pieces('new'))
  expect(readFileSync(path, 'utf8')).toBe('new')
})

describe.skipIf(process.platform === 'win32')('a name that no file can have is said', () => {
  test.each([
    ['below a file', 'file.csv/out.csv'],
    ['too long', `${'x'.repeat(300)}.csv`],
    ['too long for what is beside it', `${'x'.repeat(248)}.csv`],
  ])('%s', async (_, name) => {
    const folder = await aFolder()
    await writeFile(join(folder, 'file.csv'), 'kept')
    const failed = writeFileAtomically(join(folder, name), pieces('x'))
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(/cannot be written \(E[A-Z]+\)\. Name another file$/)
    expect(readdirSync(folder)).toEqual(['file.csv'])
    expect(readFileSync(join(folder, 'file.csv'), 'utf8')).toBe('kept')
  })

  test.each([
    ['nothing', 'gone.csv'],
    ['itself', 'latest.csv'],
  ])('a link to %s, which stays', async (_, to) => {
    const folder = await aFolder()
    const link = join(folder, 'latest.csv')
    await symlink(to, link)
    const failed = writeFileAtomically(link, pieces('x'))
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(/is a link to nothing/)
    expect(await readlink(link)).toBe(to)
  })
})

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a file that may not be read is not replaced, for it may be a database',
  async () => {
    const folder = await aFolder()
    const path = join(folder, 'out.csv')
    await writeFile(path, 'kept', { mode: 0o200 })
    const failed = writeFileAtomically(path, pieces('x'))
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(/cannot be read, so it may be a database/)
    expect(readdirSync(folder)).toEqual(['out.csv'])
  },
)
