import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { long } from '../support/long.ts'
import { query } from '../support/stored-rows.ts'

// Debian's cron runs the line that is printed, on a clock of its own: a minute takes a second. It reads its tables in a
// namespace of its own, which only root may make.

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const speed = 60

function works(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0
}

const hasCron =
  process.getuid?.() === 0 &&
  works('sh', '-c', 'command -v cron && command -v faketime') &&
  works('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/run')

interface Change {
  /** Local time at which cron is started. */
  readonly from: string
  /** The test ends when cron has looked after it. */
  readonly until: string
  readonly slots: readonly string[]
}

const changes: Readonly<Record<string, Change>> = {
  'forward, over 02:30': {
    from: '2026-03-29 01:50:30',
    until: '2026-03-29T01:11:00Z',
    // That of the day before, which nothing has run, and the end of the gap.
    slots: ['2026-03-28 01:30', '2026-03-29 01:00'],
  },
  ...(long
    ? {
        'back, so that 02:30 comes twice': {
          from: '2026-10-25 01:50:30',
          until: '2026-10-25T01:41:00Z',
          slots: ['2026-10-24 00:30', '2026-10-25 00:30'],
        },
      }
    : {}),
}

test.skipIf(!hasCron).each(Object.entries(changes))(
  'cron runs a job once where clocks go %s, and says nothing',
  async (_, { from, until, slots }) => {
    await using sandbox = await startSandbox()
    // Its own clock is that of this machine, which cron does not have here.
    sandbox.control({ dateHeader: null })
    const place = await mkdtemp(join(tmpdir(), 'rankline-cron-'))
    // What cron and its shell would read for themselves.
    const folder = join(place, "100% o'jobs")
    await mkdir(join(folder, 'data'), { recursive: true })
    await writeFile(
      join(folder, '.env'),
      `RANKLINE_BASE_URL=${sandbox.url}\nRANKLINE_API_KEY=${sandbox.key}\n`,
    )
    await writeFile(
      join(folder, 'berlin.yaml'),
      'timezone: Europe/Berlin\nschedule: "30 2 * * *"\nqueries: [a, b]\n',
    )
    const printed = execFileSync(process.execPath, [program, 'schedule', '--print', 'crontab'], {
      cwd: folder,
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    })
    await runCron(place, printed, from, Date.parse(until))
    const database = join(folder, 'data/rankline.db')
    const sql = "SELECT strftime('%Y-%m-%d %H:%M', slot_at / 1000, 'unixepoch') AS slot, outcome FROM slots"
    expect(query(database, sql)).toEqual(slots.map((slot) => ({ slot, outcome: 'ran' })))
    expect(sandbox.ledger.charged).toBe(2 * slots.length)
    expect(await readFile(join(place, 'said'), 'utf8')).toBe('')
    await rm(place, { recursive: true })
  },
)

/** Runs cron with what was printed, from a local time of Berlin until an instant. */
async function runCron(place: string, printed: string, from: string, until: number): Promise<void> {
  const line = printed.split('\n').find((one) => one.startsWith('*/5')) ?? ''
  // What it says is kept; without an MTA, cron would drop it.
  const jobs = `${line} >> ${place}/said 2>&1\n* * * * * date +\\%s > ${place}/now\n`
  await writeFile(join(place, 'jobs'), jobs)
  await writeFile(join(place, 'start'), start(place), { mode: 0o755 })
  const cron = spawn(
    'unshare',
    ['--mount', 'faketime', '-f', `@${from} x${speed}`, join(place, 'start')],
    // One clock for cron and for what it starts; in a group of its own, to be ended with all that it started.
    {
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, TZ: 'Europe/Berlin', FAKETIME_DONT_RESET: '1' },
    },
  )
  try {
    for (let now = 0; now < until; ) {
      expect(cron.exitCode).toBe(null)
      await new Promise((resolve) => setTimeout(resolve, 100))
      now = Number(await readFile(join(place, 'now'), 'utf8').catch(() => '0')) * 1000
    }
  } finally {
    process.kill(-(cron.pid as number), 'SIGKILL')
  }
}

/** Starts cron with tables of its own. It takes LD_PRELOAD from its jobs: the tables give it back. */
function start(place: string): string {
  return `#!/bin/sh
set -e
cd ${place}
mkdir -p empty tables && : > none
{
  env | grep -E '^(FAKETIME|LD_PRELOAD)' | sed 's/=\\(.*\\)/="\\1"/'
  printf 'TZ=Europe/Berlin\\nDONT_FAKE_MONOTONIC=1\\nNO_FAKE_STAT=1\\n'
  cat jobs
} > tables/root
chmod 600 tables/root
mount --bind tables /var/spool/cron/crontabs
mount --bind empty /etc/cron.d
mount --bind none /etc/crontab
mount -t tmpfs tmpfs /run
mkdir -m 1777 /run/lock
exec cron -f
`
}
