import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectedJob, type Stage } from '../support/stage.ts'
import { testTable } from '../support/test-table.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const script = '/usr/bin/script'
const again =
  'job is already finished for today (run 1). This run buys it again, for 3 credits. To buy only what that run left out, add --freshness 1h.'

let job: Stage
beforeAll(async () => {
  job = await collectedJob()
})
afterAll(() => job[Symbol.asyncDispose]())

describe.skipIf(!existsSync(script) || process.platform !== 'linux')('on a terminal', () => {
  /** Runs the job again, and answers what is asked. */
  async function answered(answer: string): Promise<string> {
    const command = [process.execPath, program, 'run', 'job.csv'].map((one) => `'${one}'`).join(' ')
    const child = spawn(script, ['-qec', command, '/dev/null'], {
      cwd: job.place.folder,
      env: {
        PATH: process.env.PATH ?? '',
        TERM: 'xterm',
        RANKLINE_BASE_URL: job.sandbox.url,
        RANKLINE_API_KEY: job.sandbox.key,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let asked = ''
    child.stdout.on('data', (piece: Buffer) => {
      const before = asked
      asked += piece.toString()
      if (!before.includes('[y/N]') && asked.includes('[y/N]')) child.stdin.write(answer)
    })
    // A terminal is 80 columns wide: lines are broken there.
    return (await text(child.stdout)).replaceAll(/\s*\n/g, ' ')
  }

  testTable(['n\n', '\n', '\u0003', '\u0004'])(
    'a run that would buy again is asked for: %j buys nothing',
    async (no) => {
      const charged = job.sandbox.ledger.charged
      const said = await answered(no)
      expect(said).toContain(again)
      expect(said).toContain('Nothing was bought')
      expect(job.sandbox.ledger.charged).toBe(charged)
    },
  )

  test('yes buys', async () => {
    expect(await answered('y\n')).toMatch(/job \(run 2\): completed/)
    expect(job.sandbox.ledger.charged).toBe(6)
  })
})

test('elsewhere it is said, but with --quiet, and bought; what costs nothing, or is wanted with --fresh, is not worth a word', async () => {
  const { place, sandbox } = job
  const before = sandbox.ledger.charged
  const said = await place.call(['run', 'job.csv'])
  expect(said.stderr).toMatch(
    /^job is already finished for today \(run \d\)\. This run buys it again, for 3 credits\. To buy only what that run left out, add --freshness 1h\.$/m,
  )
  expect(sandbox.ledger.charged).toBe(before + 3)
  expect(await place.call(['run', 'job.csv', '--quiet'])).toEqual({ code: 0, stdout: '', stderr: '' })
  expect((await place.call(['run', 'job.csv', '--fresh'])).stderr).not.toContain('again')
  expect((await place.call(['run', 'job.csv', '--freshness', '1h'])).stderr).not.toContain('again')
})
