import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { usageCommand } from '../../src/cli/commands/account/lookups.ts'
import { planCommand } from '../../src/cli/commands/collect/plan.ts'
import { runCommand } from '../../src/cli/commands/collect/run.ts'
import { commands } from '../../src/cli/commands/index.ts'
import { commandName, flagNamed, sharedFlags } from '../../src/cli/flags.ts'
import { epilogueOf, inGroups } from '../../src/cli/help.ts'
import { errorDocument, mistyped, type WordMistake } from '../../src/cli/main.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let place: Workspace
beforeAll(async () => {
  place = await workspace()
})
afterAll(() => place[Symbol.asyncDispose]())

test('the help of a command groups its flags, the global ones last, and has examples, its exit codes and its docs', async () => {
  const { code, stdout } = await place.call(['run', '--help'])
  expect(code).toBe(0)
  expect(stdout.match(/^[A-Z][a-z ]+:$/gm)).toEqual([
    'What is asked:',
    'Which queries:',
    'Limits:',
    'Service:',
    'Output:',
    'Machines:',
    'Global:',
    'Examples:',
    'Exit codes:',
  ])
  expect(stdout).toContain('cat keywords.csv | rankline run - --name keywords')
  expect(stdout).toContain('rankline run --skip-bad acme.yaml umbrella.yaml')
  expect(stdout).toMatch(/^ {2}7 {4}another process/m)
  expect(stdout).toContain('Docs: https://github.com/rankline/rankline/blob/main/jobs/README.md')
  const { stdout: reading } = await place.call(['help', 'operations'])
  expect(reading).toContain('nothing ran')
  expect(reading).not.toContain('stopped for money')
})

describe.each(commands.map((command) => [commandName(command), command] as const))('%s', (name, { load }) => {
  test('has examples with flags that it has, a page that exists, and exit codes with a meaning', async () => {
    const command = await load()
    expect(command.examples.length).toBeGreaterThan(0)
    const known = { ...sharedFlags.global, ...command.flags }
    for (const [typed, does] of command.examples) {
      expect(does).not.toBe('')
      expect(typed).toMatch(new RegExp(`(^|rankline )${name}\\b`))
      for (const [, flag = ''] of typed.matchAll(/ --([a-z-]+)/g)) expect(known).toHaveProperty([flag])
      for (const [, letter = ''] of typed.matchAll(/ -([a-z]) /g))
        expect(flagNamed(letter, known)).toBeDefined()
    }
    expect(existsSync(join(root, command.docs ?? 'README.md'))).toBe(true)
    expect(epilogueOf(command)).not.toContain('undefined')
  })
})

test('where the account has nothing left, commands that read it end with 4, as their help says', async () => {
  const { place } = await staged({ rules: [{ operation: 'usage', do: { status: 402 } }] })
  const job = await place.file('job.csv', 'query\ndesk\n')
  const read = [
    { typed: ['usage'], command: usageCommand },
    { typed: ['plan', job], command: planCommand },
  ]
  for (const { typed, command } of read) {
    const { code, stderr } = await place.call(typed)
    expect(stderr).toContain('Insufficient balance')
    expect(code).toBe(4)
    expect(epilogueOf(command)).toMatch(/^ {2}4 {2}stopped for money/m)
  }
})

test('flags of commands that have many stand in a group', async () => {
  const ungrouped = inGroups({ ...runCommand.flags }).filter(([, group]) => group === 'Options:')
  expect(ungrouped).toEqual([])
})

test.each(['schedule', 'export'])('%s: the end of a time stands with its beginning', async (name) => {
  const command = commands.find((one) => commandName(one) === name)
  const groupOf = new Map(inGroups((await command?.load())?.flags ?? {}))
  expect([groupOf.get('from'), groupOf.get('until')]).toEqual(['Options:', 'Options:'])
})

test('without a command, the first five are shown; help and version have their usual names', async () => {
  const bare = await place.call([])
  expect(bare).toMatchObject({ code: 2, stdout: '' })
  expect(bare.stderr.match(/^ {2}rankline [a-z]+/gm)).toEqual([
    '  rankline demo',
    '  rankline init',
    '  rankline plan',
    '  rankline run',
    '  rankline report',
  ])
  expect((await place.call(['help', 'run'])).stdout).toContain('Which queries:')
  expect((await place.run(['help'])).stdout).toContain('Commands:')
  expect((await place.run(['-V'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  const unknown = await place.call(['help', 'rnu'])
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean run?') })
})

test('with --json, what ends a command is a document on standard error', async () => {
  const unknown = await place.call(['report', 'nobody', '--json'])
  expect(unknown.code).toBe(2)
  expect(JSON.parse(unknown.stderr)).toEqual({
    error: { code: 2, message: expect.stringMatching(/database/), hint: expect.any(String) },
  })
  const nameless = await place.call(['xyz', '--json'])
  expect(JSON.parse(nameless.stderr).error).toEqual({
    code: 2,
    message: "There is no command 'xyz'",
    hint: 'See: rankline --help',
  })
  await place.file('bad.yaml', 'queries: [a]\ndepht: 10\npges: 2\n')
  const bad = await place.call(['plan', 'bad.yaml', '--json'], {
    RANKLINE_BASE_URL: 'http://127.0.0.1:9',
    RANKLINE_API_KEY: 'a-key-of-the-test',
  })
  expect(bad).toMatchObject({ code: 2, stdout: '' })
  const documents = bad.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(documents).toHaveLength(2)
  expect(documents[0]).toEqual({
    error: {
      code: 2,
      message: expect.stringContaining("bad.yaml:2:1: unknown key 'depht'"),
      hint: expect.stringContaining('depth'),
    },
  })
})

test.each([
  ['There is no job. List runs', { message: 'There is no job', hint: 'List runs' }],
  ["x.yaml:1:2: no 'a; b'; write c", { message: "x.yaml:1:2: no 'a; b'", hint: 'write c' }],
  [
    "The file acme's list.csv is empty. Add rows",
    { message: "The file acme's list.csv is empty", hint: 'Add rows' },
  ],
  ['Nothing to do', { message: 'Nothing to do', hint: null }],
])('an error as a document: %s', (text, document) => {
  expect(errorDocument(text, 2)).toEqual({ error: { code: 2, ...document } })
})

test.each<WordMistake>([
  { kind: 'too few' },
  { kind: 'without a value', flag: 'limit' },
  { kind: 'unknown', word: 'limt' },
  { kind: 'no command' },
])('a mistake in words is a sentence that says what to type: $kind', (mistake) => {
  for (const args of [['runs', '--limt'], ['report'], []])
    expect(mistyped(mistake, args, ['limit', 'job'])).toMatch(/rankline|--limit/)
})
