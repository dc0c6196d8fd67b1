import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { measured } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'

/**
 * How long the history of another tracker takes to import: SerpBear's database, keyword by keyword, and a table that is sorted by days, so
 * that each day touches every keyword. Arguments: keywords, days.
 */
const [keywords = 5_000, days = 1_000] = process.argv.slice(2).map(Number)
const first = Date.UTC(2023, 0, 1)
const dayOf = (index: number): string => new Date(first + index * 86_400_000).toISOString().slice(0, 10)
/** Ranks that move a little; one in ten is not found. */
const rankOn = (keyword: number, day: number): number =>
  (keyword * 7 + day) % 10 === 0 ? 0 : 1 + ((keyword * 31 + (day >> 2)) % 90)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  print(machine())
  print(`${grouped(keywords)} keywords on ${grouped(days)} days: ${grouped(keywords * days)} observations.\n`)
  print(
    '| | seconds | of the processor | MB of memory | MB of the file | MB of the database |\n| --- | --: | --: | --: | --: | --: |',
  )
  await row("SerpBear's database", 'serpbear.sqlite', serpbear, [])
  await row('table sorted by days', 'ranks.csv', table, ['--target', 'acme.com'])
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function row(
  name: string,
  file: string,
  write: (path: string) => void,
  options: readonly string[],
): Promise<void> {
  const [path, database] = [join(folder, file), join(folder, `${file}.db`)]
  write(path)
  const imported = await measured(['import', path, ...options, '--db', database])
  const sizes = [path, database].map((one) => megabytes(statSync(one).size))
  print(
    `| ${name} | ${imported.seconds.toFixed(1)} | ${imported.cpuSeconds.toFixed(1)} | ${Math.round(imported.megabytes)} | ${sizes.join(' | ')} |`,
  )
  const again = await measured(['import', path, ...options, '--db', database])
  print(
    `| the same once more | ${again.seconds.toFixed(1)} | ${again.cpuSeconds.toFixed(1)} | ${Math.round(again.megabytes)} | | |`,
  )
  const undone = await measured(['import', 'undo', '1', '--db', database])
  print(
    `| undone | ${undone.seconds.toFixed(1)} | ${undone.cpuSeconds.toFixed(1)} | ${Math.round(undone.megabytes)} | | |`,
  )
}

function serpbear(path: string): void {
  const db = new Database(path)
  db.pragma('synchronous = OFF')
  db.exec(`CREATE TABLE domain (ID INTEGER PRIMARY KEY, domain TEXT);
    CREATE TABLE keyword (ID INTEGER PRIMARY KEY, keyword TEXT, device TEXT, country TEXT, city TEXT, domain TEXT, lastUpdated TEXT,
      history TEXT, url TEXT, tags TEXT, volume INTEGER, lastUpdateError TEXT)`)
  const insert =
    db.prepare(`INSERT INTO keyword (keyword, device, country, domain, lastUpdated, history, url, tags, lastUpdateError)
    VALUES (?, 'desktop', 'US', 'acme.com', ?, ?, 'https://acme.com/', '[]', 'false')`)
  const updated = `${dayOf(days - 1)}T04:00:00.000Z`
  const names = Array.from({ length: days }, (_, day) => dayOf(day).replace(/-0/g, '-'))
  db.transaction(() => {
    for (let keyword = 0; keyword < keywords; keyword++) {
      const history = names.map((name, day) => `"${name}":${rankOn(keyword, day)}`)
      insert.run(`keyword ${keyword}`, updated, `{${history.join(',')}}`)
    }
  })()
  db.close()
}

function table(path: string): void {
  const file = openSync(path, 'w')
  writeSync(file, 'Date,Keyword,Country,Position,URL,Tags\n')
  for (let day = 0; day < days; day++) {
    const rows: string[] = []
    for (let keyword = 0; keyword < keywords; keyword++) {
      const rank = rankOn(keyword, day)
      const url = rank === 0 ? '' : `https://acme.com/page-${keyword}-${(day >> 5) & 1}`
      rows.push(`${dayOf(day)},keyword ${keyword},us,${rank === 0 ? '' : rank},${url},money\n`)
    }
    writeSync(file, rows.join(''))
  }
  closeSync(file)
}
