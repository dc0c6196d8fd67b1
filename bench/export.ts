import { spawn } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportFormats } from '../src/report/export-out.ts'
import { writeResults } from './many-results.ts'

/**
 * How fast results are exported in each format, and in how much memory. Prints the table of docs/exports.md.
 *
 * Arguments: how many results [1000000], then the formats [all].
 */

const results = Number(process.argv[2] ?? 1_000_000)
const formats = process.argv.length > 3 ? process.argv.slice(3) : exportFormats
const program = fileURLToPath(new URL('../cli.js', import.meta.url))
/** Says at the end how much memory there was at most, in kilobytes. */
const watch = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\npeak '+process.resourceUsage().maxRSS))`

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const db = join(folder, 'bench.db')
  await writeResults(db, results)
  print(`Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${new Date().toISOString().slice(0, 10)}`)
  print(`${results.toLocaleString('en-US')} results, ${megabytes((await stat(db)).size)} of database\n`)
  print('| format | seconds | rows/s | peak memory | file |\n| --- | --: | --: | --: | --: |')
  for (const format of formats) {
    const out = join(folder, `results.${format}`)
    const began = performance.now()
    const peak = await peakOf(['export', 'organic', '--db', db, '--format', format, '--out', out])
    const seconds = (performance.now() - began) / 1000
    const speed = Math.round(results / seconds / 1000) * 1000
    print(
      `| ${format} | ${seconds.toFixed(1)} | ${speed.toLocaleString('en-US')} | ${megabytes(peak)} | ${megabytes((await stat(out)).size)} |`,
    )
    await rm(out)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Runs the program; answers the most memory that it had, in bytes. */
async function peakOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', watch, program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  const peak = said.match(/peak (\d+)/)?.[1]
  if (code !== 0 || peak === undefined) throw new Error(`rankline ${args.join(' ')}: ${code}\n${said}`)
  return Number(peak) * 1024
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString('en-US')} MB`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
