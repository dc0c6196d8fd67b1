import { afterAll, beforeAll, expect, test } from 'vitest'
import { mistyped } from '../../src/cli/main.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

let place: Workspace
beforeAll(async () => {
  place = await workspace()
})
afterAll(() => place[Symbol.asyncDispose]())

test('the help of a command has examples and the exit codes', async () => {
  const { code, stdout } = await place.run(['run', '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('cat keywords.csv | rankline run - --name keywords')
  expect(stdout).toContain('rankline run --skip-bad acme.yaml umbrella.yaml')
  expect(stdout).toMatch(/^Exit codes:\n {2}0 done/m)
})

test.each([
  ['/bin/bash', 'complete -o bashdefault'],
  ['/bin/zsh', '#compdef rankline'],
])('completion prints a script for %s, which asks the program', async (shell, part) => {
  const { code, stdout } = await place.run(['completion'], { SHELL: shell })
  expect(code).toBe(0)
  expect(stdout).toContain(part)
  const asked = await place.run(['--get-yargs-completions', 'rankline', 'run', '--ski'], { SHELL: shell })
  expect(asked.stdout).toContain('--skip-bad')
})

test.each([
  'Not enough non-option arguments: got 0, need at least 1',
  'Too many non-option arguments: got 2, maximum of 1',
  'Not enough arguments following: limit',
  'Missing required argument: job',
  'Unknown argument: limt',
  'Unknown arguments: limt, x',
  'Arguments limit and job are mutually exclusive',
])('what yargs says is never what a user reads: %s', (message) => {
  for (const args of [['runs', '--limt'], ['report'], []]) {
    const sentence = mistyped(message, args, ['limit', 'job'])
    expect(sentence).not.toContain(message)
    expect(sentence).toMatch(/rankline|--limit/)
  }
})
