import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { type TrueDay, type TrueHistory, target, unpadded } from './truth.ts'

/** A file of a tool, made of a truth by the schema or header that the tool publishes. */
export interface Sample {
  readonly format: string
  /** Writes it into a folder; answers what is imported. */
  readonly write: (folder: string, histories: readonly TrueHistory[]) => string
  /** What its file does not say. */
  readonly options?: readonly string[]
  /** What becomes of what was not found: whether the file tells it from what failed. */
  readonly absentIs: 'absent' | 'unknown' | 'missing'
  /** Whether the file lets one tell every failed day. */
  readonly failedAre: 'told' | 'repeats possible'
  /** False where it has one market. */
  readonly hasMarkets?: false
  /** Where it has a cell also for a day without a check. */
  readonly hasEveryDay?: true
}

function csv(rows: readonly (readonly (string | number)[])[], separator = ','): string {
  const cell = (value: string | number): string => {
    const text = String(value)
    return text.includes(separator) || /["\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return rows.map((row) => `${row.map(cell).join(separator)}\r\n`).join('')
}

/** `keyword` of SerpBear: a failed check writes the position before, 0 is not found and never. */
export const serpbear: Sample = {
  format: 'serpbear',
  absentIs: 'unknown',
  failedAre: 'repeats possible',
  write: (folder, histories) => {
    const path = join(folder, 'database.sqlite')
    using db = closing(new Database(path))
    db.exec(`CREATE TABLE domain (ID INTEGER PRIMARY KEY, domain TEXT, slug TEXT, lastUpdated TEXT, added TEXT, tags TEXT);
      CREATE TABLE keyword (ID INTEGER PRIMARY KEY, keyword TEXT, device TEXT, country TEXT, city TEXT, domain TEXT, lastUpdated TEXT, added TEXT,
        position INTEGER, history TEXT, volume INTEGER, url TEXT, tags TEXT, lastResult TEXT, sticky INTEGER, updating INTEGER,
        lastUpdateError TEXT);`)
    db.prepare('INSERT INTO domain (domain, slug) VALUES (?, ?)').run(target, 'acme-com')
    const insert =
      db.prepare(`INSERT INTO keyword (keyword, device, country, city, domain, lastUpdated, position, history, volume, url, tags, lastUpdateError)
      VALUES (?, 'desktop', ?, '', ?, ?, ?, ?, 2400, ?, '["money","new"]', ?)`)
    for (const { text, country, days } of histories) {
      const history: Record<string, number> = {}
      let [position, url, updated, error] = [0, '[]', '', 'false']
      for (const [day, one] of days) {
        if (one.state === 'unchecked') continue
        if (one.state === 'failed')
          error = JSON.stringify({ date: `${day}T04:00:00.000Z`, error: 'Blocked', scraper: 'x' })
        else {
          position = one.state === 'ranked' ? one.rank : 0
          url = one.state === 'ranked' ? one.url : '[]'
          updated = `${day}T04:00:00.000Z`
          error = 'false'
        }
        history[unpadded(day)] = position
      }
      const json = updated === '' ? '[]' : JSON.stringify(history)
      insert.run(text, country.toUpperCase(), target, updated, position, json, url, error)
    }
    return path
  },
}

/** Any table: what failed has an empty cell, what was not found says how deep was looked. */
const table: Sample = {
  format: 'table',
  absentIs: 'absent',
  failedAre: 'told',
  options: ['--target', target],
  write: (folder, histories) => {
    const path = join(folder, 'ranks.csv')
    const rows = histories.flatMap(({ text, country, days }) =>
      [...days].flatMap(([day, one]) => {
        if (one.state === 'unchecked') return []
        const place = one.state === 'ranked' ? String(one.rank) : one.state === 'absent' ? '>100' : ''
        return [[unpadded(day), text, country, place, one.state === 'ranked' ? one.url : '']]
      }),
    )
    writeFileSync(path, csv([['Day', 'Keyword', 'Country', 'Pos', 'Ranking URL'], ...rows]))
    return path
  },
}

/** The target CSV of Serposcope: its addresses are not escaped. */
const serposcopeCsv: Sample = {
  format: 'serposcope-csv',
  absentIs: 'unknown',
  failedAre: 'told',
  write: (folder, histories) => {
    const path = join(folder, 'export.csv')
    const lines = histories.flatMap(({ text, country, days }) =>
      [...days].flatMap(([day, one]) => {
        if (one.state === 'unchecked') return []
        const [rank, url] = one.state === 'ranked' ? [one.rank, one.url] : [32_767, 'null']
        const place = one.state === 'failed' ? ',' : `${rank},${url}`
        const quoted = /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
        return [`${day},${place},${target},${quoted},D,${country.toUpperCase()},,,`]
      }),
    )
    writeFileSync(
      path,
      `date,rank,url,target,keyword,device,country,datacenter,local,custom\n${lines.join('\n')}\n`,
    )
    return path
  },
}

/** The SQL export of Serposcope, packed: with every result page, and with what must not be read. */
export const serposcope: Sample = {
  format: 'serposcope',
  absentIs: 'absent',
  failedAre: 'told',
  write: (folder, histories) => {
    const path = join(folder, 'export-utf8.sql.gz')
    const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
    const days = [...new Set(histories.flatMap((one) => [...one.days.keys()]))]
    const insert = (table: string, rows: readonly string[]): string =>
      rows.length === 0 ? '' : `INSERT INTO \`${table}\` VALUES ${rows.map((row) => `(${row})`).join(',')};\n`
    const checks = histories.flatMap((one, search) =>
      days.flatMap((day, run) => {
        const found = one.days.get(day) ?? { state: 'unchecked' as const }
        return found.state === 'unchecked' ? [] : [{ found, search: search + 1, run: run + 1, day }]
      }),
    )
    const links = (found: TrueDay): readonly string[] => {
      if (found.state === 'failed') return []
      const usual = Array.from({ length: 80 }, (_, index) => `https://rival-${index}.example/größe/😀`)
      const others = found.state === 'ranked' ? [...(found.others ?? usual)] : usual
      if (found.state === 'ranked') others.splice(found.rank - 1, 1, found.url)
      return others
    }
    const dump = [
      'CREATE TABLE `CONFIG` (`NAME` VARCHAR);\nCREATE TABLE `GOOGLE_SEARCH` (`ID` INT);\n',
      insert('CONFIG', [`'app.key',${text('secret; INSERT INTO `RUN` VALUES (1);')}`]),
      insert('USER', ["1,'me@acme.com',X'00ff'"]),
      insert('EVENT', [`1,'2026-01-02',${text("It's new")},NULL`]),
      insert('RUN', [
        ...days.map((day, run) => `${run + 1},0,'${day}','${day} 04:00:00',NULL,100,0,0,2,1`),
        `900,1,'2020-01-01',NULL,NULL,100,0,0,2,1`,
      ]),
      insert('PROXY', ["1,'http://user:password@proxy'"]),
      insert(
        'GOOGLE_SEARCH',
        histories.map(
          (one, search) =>
            `${search + 1},${text(one.text)},${text(one.country.toUpperCase())},NULL,0,'',NULL`,
        ),
      ),
      ...checks.map(({ found, search, run, day }) =>
        insert('GOOGLE_SERP', [`${run},${search},'${day}',X'${packedPage(links(found)).toString('hex')}'`]),
      ),
      insert('GOOGLE_TARGET', [`1,1,'Acme',0,'^https?://${target}(/|$)'`]),
      insert(
        'GOOGLE_RANK',
        checks.map(({ found, search, run }) =>
          found.state === 'ranked'
            ? `${run},1,1,${search},${found.rank},32767,0,${text(found.url)}`
            : `${run},1,1,${search},32767,32767,0,NULL`,
        ),
      ),
    ]
    writeFileSync(path, gzipSync(dump.join('')))
    return path
  },
}

/** A page as Serposcope stores it: a length, and an LZ4 block of links as Java writes them. */
function packedPage(links: readonly string[]): Buffer {
  const parts = [Buffer.from([0, links.length >> 8, links.length & 255])]
  for (const link of links) {
    const bytes: number[] = []
    for (let index = 0; index < link.length; index++) {
      const unit = link.charCodeAt(index)
      if (unit < 0x80) bytes.push(unit)
      else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 63))
      else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63))
    }
    parts.push(Buffer.from([bytes.length >> 8, bytes.length & 255, ...bytes, 1, 0, 1, 0, 9]))
  }
  const plain = Buffer.concat(parts)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(plain.length)
  return Buffer.concat([length, lz4(plain)])
}

/** Packs greedily: what begins as four bytes before is copied. */
function lz4(plain: Buffer): Buffer {
  const out: number[] = []
  const seen = new Map<number, number>()
  const lengthBytes = (value: number): number[] => {
    if (value < 15) return []
    const rest = value - 15
    return [...Array(Math.floor(rest / 255)).fill(255), rest % 255]
  }
  let anchor = 0
  let at = 0
  const emit = (copied: number | null, distance = 0): void => {
    const literals = at - anchor
    const more = copied === null ? 0 : copied - 4
    out.push((Math.min(literals, 15) << 4) | Math.min(more, 15), ...lengthBytes(literals))
    for (const byte of plain.subarray(anchor, at)) out.push(byte)
    if (copied !== null) out.push(distance & 255, distance >> 8, ...lengthBytes(more))
  }
  while (at + 12 < plain.length) {
    const key = plain.readUInt32LE(at)
    const before = seen.get(key)
    seen.set(key, at)
    if (before === undefined || at - before > 65_535) {
      at += 1
      continue
    }
    let copied = 4
    while (at + copied < plain.length - 5 && plain[before + copied] === plain[at + copied]) copied += 1
    emit(copied, at - before)
    at += copied
    anchor = at
  }
  at = plain.length
  emit(null)
  return Buffer.from(out)
}

/** OpenSEO's tables: no position is failed or not found. */
const openseo: Sample = {
  format: 'openseo',
  absentIs: 'unknown',
  failedAre: 'told',
  write: (folder, histories) => {
    const path = join(folder, 'openseo.sqlite')
    using db = closing(new Database(path))
    db.pragma('journal_mode = WAL')
    db.exec(`CREATE TABLE rank_tracking_configs (id TEXT PRIMARY KEY, project_id TEXT, domain TEXT, location_code INTEGER, language_code TEXT, devices TEXT, serp_depth INTEGER, created_at TEXT);
      CREATE TABLE rank_tracking_keywords (id TEXT PRIMARY KEY, config_id TEXT, keyword TEXT, created_at TEXT);
      CREATE TABLE rank_check_runs (id TEXT PRIMARY KEY, config_id TEXT, project_id TEXT, status TEXT, error_message TEXT, started_at TEXT, completed_at TEXT);
      CREATE TABLE rank_snapshots (id TEXT PRIMARY KEY, run_id TEXT, tracking_keyword_id TEXT, keyword TEXT, device TEXT, position INTEGER, url TEXT, serp_features TEXT, checked_at TEXT);
      INSERT INTO rank_tracking_configs VALUES ('us', 'p', '${target}', 2840, 'en', 'desktop', 50, ''), ('de', 'p', '${target}', 2276, 'de', 'desktop', 50, '')`)
    const run = db.prepare(
      "INSERT OR IGNORE INTO rank_check_runs VALUES (?, ?, 'p', 'completed', NULL, ?, ?)",
    )
    const snapshot = db.prepare("INSERT INTO rank_snapshots VALUES (?, ?, ?, ?, 'desktop', ?, ?, '[]', ?)")
    histories.forEach(({ text, country, days }, index) => {
      db.prepare("INSERT INTO rank_tracking_keywords VALUES (?, ?, ?, '')").run(String(index), country, text)
      for (const [day, one] of days) {
        if (one.state === 'unchecked') continue
        run.run(`${country} ${day}`, country, `${day}T04:00:00Z`, `${day}T05:00:00Z`)
        const [position, url] = one.state === 'ranked' ? [one.rank, one.url] : [null, null]
        snapshot.run(
          `${index} ${day}`,
          `${country} ${day}`,
          String(index),
          text,
          position,
          url,
          `${day}T04:00:00.000Z`,
        )
      }
    })
    return path
  },
}

/** The package of Bisibility: completed checks alone. */
const bisibility: Sample = {
  format: 'bisibility',
  absentIs: 'absent',
  failedAre: 'told',
  options: ['--target', target],
  write: (folder, histories) => {
    const path = join(folder, 'package.json')
    const keywords = histories.map(({ text, country, days }, index) => ({
      id: String(index),
      keyword: text,
      location: country === 'us' ? 'United States' : 'Germany',
      device: 'desktop',
      target_url: null,
      tags: ['a "quoted" ] tag'],
      rankingHistory: [...days].flatMap(([day, one]) =>
        one.state === 'unchecked' || one.state === 'failed'
          ? []
          : [
              {
                checkedAt: `${day}T04:00:00.000Z`,
                normalizationVersion: 'v1',
                position: one.state === 'ranked' ? one.rank : null,
                previousPosition: 3,
                provider: 'x',
                rankingUrl: one.state === 'ranked' ? one.url : null,
                requestedDepth: 100,
              },
            ],
      ),
    }))
    const all = {
      exported_at: '2026-01-20',
      version: 6,
      project_id: 'p',
      scope: 'all',
      keywords,
      alert_rules: [],
      competitors: [],
    }
    writeFileSync(path, JSON.stringify(all, null, 1))
    return path
  },
}

/** The database of SEO Command Center carries ranks forward. */
const seoCommandCenter: Sample = {
  format: 'seo-command-center',
  absentIs: 'unknown',
  failedAre: 'repeats possible',
  hasMarkets: false,
  write: (folder, histories) => {
    const path = join(folder, 'ranks.db')
    using db = closing(new Database(path))
    db.exec(`CREATE TABLE kw (checked_at TEXT, brand TEXT, domain TEXT, keyword TEXT, rank INTEGER, search_volume INTEGER, cpc REAL, url TEXT, source TEXT,
      geo TEXT, geo_rank INTEGER, gsc_position REAL, is_brand INTEGER, mobile_rank INTEGER, map_rank INTEGER)`)
    const insert = db.prepare(
      "INSERT INTO kw (checked_at, domain, keyword, rank, search_volume, url, source) VALUES (?, ?, ?, ?, 100, ?, 'ranked')",
    )
    for (const { text, days } of histories) {
      let rank: number | null = null
      for (const [day, one] of days) {
        if (one.state === 'unchecked') continue
        if (one.state === 'ranked') rank = one.rank
        if (one.state === 'absent') rank = null
        insert.run(`${day} 04:00`, target, text, rank, one.state === 'ranked' ? one.url : null)
      }
    }
    db.prepare(
      "INSERT INTO kw (checked_at, domain, keyword, rank, source) VALUES ('2026-01-01 04:00', ?, 'from search console', 4, 'gsc')",
    ).run(target)
    return path
  },
}

/** Semrush Position Tracking of one campaign: a column for each day. */
const semrushTracking: Sample = {
  format: 'semrush-tracking',
  absentIs: 'unknown',
  failedAre: 'told',
  hasMarkets: false,
  hasEveryDay: true,
  write: (folder, histories) => {
    const path = join(folder, '1_position_tracking_rankings_overview_20260120.csv')
    const days = [...new Set(histories.flatMap((one) => [...one.days.keys()]))]
    const columns = days.flatMap((day) =>
      ['', '_type', '_landing'].map((part) => `*.${target}/*_${day.replaceAll('-', '')}${part}`),
    )
    const rows = histories.map(({ text, days: own }) => [
      text,
      'money,new',
      'commercial',
      ...days.flatMap((day) => {
        const one = own.get(day)
        return one?.state === 'ranked' ? [one.rank, 'organic', one.url] : ['-', '', '']
      }),
      '2',
      '2400',
      '1.5',
      '40',
    ])
    const above = [
      ['Position Tracking: Rankings Overview'],
      ['Campaign: acme'],
      [`Period: ${days[0]} - ${days.at(-1)}`],
      [''],
    ]
    const header = [
      'Keyword',
      'Tags',
      'Intents',
      ...columns,
      `*.${target}/*_difference`,
      'Search Volume',
      'CPC',
      'Keyword Difficulty',
    ]
    writeFileSync(path, csv([...above, header, ...rows]))
    return path
  },
}

/** Semrush Organic Positions: pages that rank, several of one word. */
const semrushPositions: Sample = {
  format: 'semrush-positions',
  absentIs: 'missing',
  failedAre: 'told',
  write: (folder, histories) => {
    for (const country of ['us', 'de'] as const) {
      const rows = histories
        .filter((one) => one.country === country)
        .flatMap(({ text, days }) =>
          [...days].flatMap(([day, one]) => {
            if (one.state !== 'ranked') return []
            const row = (rank: number, url: string) => [
              text,
              rank,
              3,
              2400,
              40,
              1.5,
              url,
              1,
              0.1,
              1,
              0.5,
              1000,
              '[1,1]',
              day,
              '',
              '',
              'Organic',
            ]
            return [
              row(one.rank + 4, 'https://acme.com/other'),
              row(one.rank, one.url),
              row(one.rank + 9, 'https://acme.com/third'),
            ]
          }),
        )
      const header =
        'Keyword,Position,Previous position,Search Volume,Keyword Difficulty,CPC,URL,Traffic,Traffic (%),Traffic Cost,Competition,Number of Results,Trends,Timestamp,SERP Features by Keyword,Keyword Intents,Position Type'
      writeFileSync(
        join(folder, `${target}-organic.Positions-${country}-20260120-2026-01-21T00_00_00Z.csv`),
        csv([header.split(','), ...rows]),
      )
    }
    return folder
  },
}

const ahrefsHeader =
  'Keyword,Volume,KD,CPC,Previous organic traffic,Current organic traffic,Organic traffic change,Previous position,Current position,Position change,Previous position kind,Current position kind,Current URL,Previous URL,Branded,Local,Informational,Commercial,Transactional,Navigational'

/** Ahrefs today: a file for each day, with its day in the name. */
const ahrefs: Sample = {
  format: 'ahrefs',
  absentIs: 'unknown',
  failedAre: 'told',
  hasMarkets: false,
  write: (folder, histories) => {
    const days = [...new Set(histories.flatMap((one) => [...one.days.keys()]))]
    for (const day of days) {
      const rows = histories.flatMap(({ text, days: own }) => {
        const one = own.get(day)
        if (one === undefined || one.state === 'unchecked') return []
        const [rank, url] = one.state === 'ranked' ? [one.rank, one.url] : ['', '']
        return [
          [
            text,
            2400,
            40,
            1.5,
            1,
            1,
            0,
            3,
            rank,
            '',
            'Organic',
            'Organic',
            url,
            '',
            ...Array(6).fill('false'),
          ],
        ]
      })
      writeFileSync(
        join(folder, `${target}-organic-keywords-subdomains_${day}.csv`),
        csv([ahrefsHeader.split(','), ...rows]),
      )
    }
    return folder
  },
}

/** Ahrefs before: UTF-16, tabs. */
const ahrefsOld: Sample = {
  format: 'ahrefs-old',
  absentIs: 'missing',
  failedAre: 'told',
  hasMarkets: false,
  write: (folder, histories) => {
    const path = join(folder, `${target}-organic-keywords.csv`)
    const header =
      '#,Keyword,Position,Position History,Position History Date,Volume,URL,Difficulty,Traffic (desc),CPC,Last Update,Page URL inside,SERP Features'
    const rows = histories.flatMap(({ text, days }) =>
      [...days].flatMap(([day, one], index) =>
        one.state === 'ranked'
          ? [[index, text, one.rank, '', '', 2400, one.url, 40, 1, 1.5, `${day} 04:00:00`, '', '']]
          : [],
      ),
    )
    writeFileSync(
      path,
      Buffer.concat([
        Buffer.from([0xff, 0xfe]),
        Buffer.from(csv([header.split(','), ...rows], '\t'), 'utf16le'),
      ]),
    )
    return path
  },
}

/** STAT, highest ranks: a blank does not rank, N/A was not checked. */
const stat: Sample = {
  format: 'stat',
  absentIs: 'absent',
  failedAre: 'told',
  write: (folder, histories) => {
    const path = join(folder, 'stat.csv')
    const header =
      'Date,Site,Keyword,Market,Device,Google,Google Base Rank,Yahoo,Bing,Google URL,Yahoo URL,Bing URL,Advertiser Competition,Global Monthly Searches,Regional Monthly Searches,CPC,Tags'
    const rows = histories.flatMap(({ text, country, days }) =>
      [...days].flatMap(([day, one]) => {
        if (one.state === 'unchecked') return []
        const place = one.state === 'ranked' ? one.rank : one.state === 'absent' ? '' : 'N/A'
        const market = country === 'us' ? 'US-en' : 'DE-de'
        const url = one.state === 'ranked' ? one.url : ''
        return [
          [
            day,
            target,
            text,
            market,
            'Desktop',
            place,
            place,
            '',
            '',
            url,
            '',
            '',
            0.5,
            9000,
            2400,
            1.5,
            'money/new',
          ],
        ]
      }),
    )
    writeFileSync(
      path,
      Buffer.concat([
        Buffer.from([0xff, 0xfe]),
        Buffer.from(csv([header.split(','), ...rows], '\t'), 'utf16le'),
      ]),
    )
    return path
  },
}

/** Moz Pro: a file for each day, an engine in two markets. */
const moz: Sample = {
  format: 'moz',
  absentIs: 'absent',
  failedAre: 'told',
  options: ['--target', target],
  write: (folder, histories) => {
    const days = [...new Set(histories.flatMap((one) => [...one.days.keys()]))]
    const parts = [
      'Rank',
      'Change (Deprecated)',
      'SERP Date',
      'URL',
      'Verticals',
      'Position of Vertical(s) in SERP',
      'You Present',
      'Search Volume',
      'Mobile Friendly',
    ]
    const engines = ['Google en-US', 'Google de-DE']
    const header = [
      'Keyword',
      'Location',
      'Labels',
      ...Array(3).fill('For Future Use'),
      ...engines.flatMap((engine) => parts.map((part) => `${engine} ${part}`)),
    ]
    const texts = [...new Set(histories.map(({ text }) => text))]
    for (const day of days) {
      const rows = texts.map((text) => [
        text,
        '',
        'money',
        '',
        '',
        '',
        ...(['us', 'de'] as const).flatMap((country) => {
          const one = histories
            .find((history) => history.text === text && history.country === country)
            ?.days.get(day)
          if (one === undefined || one.state === 'unchecked') return Array(9).fill('')
          const place = one.state === 'ranked' ? one.rank : one.state === 'absent' ? 'Not in top 50' : ''
          return [place, '', day, one.state === 'ranked' ? one.url : '', '', '', '', 2400, '']
        }),
      ])
      writeFileSync(join(folder, `moz-${day}.csv`), csv([header, ...rows]))
    }
    return folder
  },
}

/** WebPosition: days as Americans write them. */
const webPosition: Sample = {
  format: 'webposition',
  absentIs: 'unknown',
  failedAre: 'told',
  hasMarkets: false,
  options: ['--target', target, '--days', 'mdy'],
  write: (folder, histories) => {
    const path = join(folder, 'webposition.csv')
    const rows = histories.flatMap(({ text, days }) =>
      [...days].flatMap(([day, one]) => {
        if (one.state === 'unchecked') return []
        const [year, month, date] = day.split('-').map(Number)
        const place =
          one.state === 'ranked'
            ? [one.url, 'Page', one.rank, 0]
            : ['', '', one.state === 'absent' ? 'Not Found' : '', '']
        return [[`${month}/${date}/${year}`, 'Google', text, ...place]]
      }),
    )
    writeFileSync(path, csv(['Run Date,Engine,Keyword,URL,URL Type,Position,Delta'.split(','), ...rows]))
    return path
  },
}

function closing(db: Database.Database): Database.Database & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() })
}

export const samples: readonly Sample[] = [
  serpbear,
  serposcope,
  serposcopeCsv,
  openseo,
  bisibility,
  seoCommandCenter,
  semrushTracking,
  semrushPositions,
  ahrefs,
  ahrefsOld,
  stat,
  moz,
  webPosition,
  table,
]
