import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { largeStore } from './large-store.ts'
import { measured } from './measured.ts'
import { print } from './print.ts'

/**
 * How long the reports of a large job take, and how much memory: as whole processes, beside one that only starts.
 * Arguments: keywords, days, results of a SERP.
 */

const [keywords = 1_000, days = 365, results = 100] = process.argv.slice(2).map(Number)
const forms = ['table', 'csv', 'json', 'md', 'xlsx', 'html']

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const database = join(folder, 'bench.db')
  const started = performance.now()
  await largeStore(database, { keywords, days, results })
  const seconds = (performance.now() - started) / 1000
  const { size } = await stat(database)
  print(
    `${keywords} keywords, ${days} days, ${results} results, three targets: ${megabytes(size)} MB, written in ${seconds.toFixed(0)} s\n`,
  )
  const idle = await measured(['--version'])
  print('| form | seconds | times `rankline --version` | peak memory, MB | file, MB |')
  print('| --- | --: | --: | --: | --: |')
  for (const form of forms) {
    const file = join(folder, `report.${form}`)
    const took = await measured(['report', 'bench', '--db', database, '--format', form, '--out', file])
    const written = await stat(file)
    print(
      `| ${form} | ${took.seconds.toFixed(2)} | ${(took.seconds / idle.seconds).toFixed(1)} | ${took.megabytes.toFixed(0)} | ${megabytes(written.size)} |`,
    )
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
