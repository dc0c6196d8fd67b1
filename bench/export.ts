import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowFormats } from '../src/output/formats/index.ts'
import { writeResults } from './many-results.ts'
import { measured } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'

/**
 * How fast results are exported in each format, and in how much memory. Prints the table of docs/exports.md.
 *
 * Arguments: how many results [1000000], then the formats [all].
 */

const results = Number(process.argv[2] ?? 1_000_000)
const formats = process.argv.length > 3 ? process.argv.slice(3) : Object.keys(rowFormats)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const db = join(folder, 'bench.db')
  await writeResults(db, results)
  print(machine())
  print(`${grouped(results)} results, ${megabytes((await stat(db)).size)} MB of database\n`)
  print('| format | seconds | rows/s | peak memory | file |\n| --- | --: | --: | --: | --: |')
  for (const format of formats) {
    const out = join(folder, `results.${format}`)
    const args = ['export', 'organic', '--db', db, '--format', format, '--out', out]
    const { seconds, megabytes: peak } = await measured(args)
    const speed = Math.round(results / seconds / 1000) * 1000
    print(
      `| ${format} | ${seconds.toFixed(1)} | ${grouped(speed)} | ${grouped(Math.round(peak))} MB | ${megabytes((await stat(out)).size)} MB |`,
    )
    await rm(out)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
