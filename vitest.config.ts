import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type InlineConfig, type TestSpecification } from 'vitest/node'

const common = {
  environment: 'node',
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 30_000,
  setupFiles: ['test/support/seed.ts'],
  // Thousands of commits wait for the disk.
  env: { TMPDIR: quickPlace() },
  // As the build does it.
  alias: {
    'better-sqlite3': fileURLToPath(new URL('src/store/sqlite/connection/driver.ts', import.meta.url)),
  },
} as const satisfies InlineConfig
/** Take minutes, or try what other tests try in a smaller way: these have no short form. */
const longOnly = [
  'disk',
  'failing-disk',
  'fortnight',
  'machines',
  'many-processes',
  'reported-year',
  'scheduled-year',
  'simulated-year',
]
// More than there are cores, for most of the time of a test goes into waiting: for processes, pauses and browsers.
const workers = 2 * availableParallelism() + 1

/** The styles and scripts of pages lie beside the program: the sources take those of the last build. */
const builtPages: Plugin = {
  name: 'built-pages',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('/src/page/html.ts')
      ? code.replace("new URL('.', import.meta.url)", `new URL('${new URL('dist/', import.meta.url)}')`)
      : null,
}

/** A folder in memory, where there is room in one, and programs in it may be run. */
function quickPlace(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < 2e9) return tmpdir()
  const program = `${memory}/rankline-${process.pid}`
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  const { status } = spawnSync(program)
  rmSync(program)
  return status === 0 ? memory : tmpdir()
}

/**
 * What takes longest begins first, so that what begins last is quick: of the suite, pages, which keep the processor busy, between commands
 * and machines, which wait.
 */
const longest = [
  'long/scheduled-year',
  'long/faults',
  'long/kills',
  'long/machines',
  'long/refusals',
  'long/cron',
  'long/fortnight',
  'long/scheduler-kills',
  'page/page',
  'cli/machines/takeover',
  'cli/breaker',
  'page/first-screen',
  'cli/machines/spending',
  'cli/troubles',
  'page/address',
  'cli/turns',
  'cli/db',
  'page/rivals',
  'cli/machines',
  'cli/async-jobs',
  'docs-commands',
  'machines/worker',
  'page/',
  'machines/',
  'cli/stops',
  'cli/schedule',
  'cli/secrets',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = longest.findIndex((part) => moduleId.includes(`/test/${part}`))
      return found === -1 ? longest.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig(({ mode }) => {
  const long = mode === 'long'
  return {
    test: {
      sequence: { sequencer: LongestFirst },
      // What was transformed in an earlier run is read from node_modules, by the contents of the file and of this one.
      experimental: { fsModuleCache: true },
      projects: [
        {
          plugins: [builtPages],
          test: {
            ...common,
            name: 'suite',
            include: ['test/**/*.test.ts'],
            exclude: ['test/alone/**', 'test/long/**'],
            // Files share a process and the modules it has loaded, which a third of the time went into: no test may replace a module.
            isolate: false,
            maxWorkers: workers,
            sequence: { groupOrder: 0 },
          },
        },
        {
          // What is judged by the clock would be disturbed by tests beside it.
          test: {
            ...common,
            name: 'alone',
            include: ['test/alone/**/*.test.ts'],
            fileParallelism: false,
            sequence: { groupOrder: 1 },
          },
        },
        {
          // Kills and crowds of processes, which wait for processes and pauses most of the time.
          test: {
            ...common,
            env: { RANKLINE_TEST_LONG: long ? '1' : '0' },
            name: 'long',
            include: ['test/long/**/*.test.ts'],
            exclude: long ? [] : [`test/long/{${longOnly.join()}}.test.ts`],
            maxWorkers: long ? availableParallelism() + 2 : workers,
            maxConcurrency: 2,
            testTimeout: 300_000,
            sequence: { groupOrder: long ? 2 : 0 },
          },
        },
      ],
    },
  }
})
