import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { openJob } from '../jobfile/open.ts'
import { paramReaders } from '../jobfile/params.ts'
import { peek } from '../jobfile/peek.ts'
import { site } from '../jobfile/targets.ts'
import { withItems } from '../jobfile/yaml.ts'
import type { JobQuery } from '../model/query.ts'
import { count, encodingOf, firstNames, grouped, groupedBy, textInLowerCase } from '../model/text.ts'
import { queryText } from '../model/values.ts'
import type { ImportResult } from '../store/sqlite/imports/imports.ts'
import { cellText, csvParser, separatorOf } from './csv.ts'
import { readCell } from './import/format.ts'

/**
 * The job file of what an import followed: its keywords, each once for a country and language, with volumes, tags and pages. A job that is
 * there keeps what it says, and gets what it lacks. Null where its file has mistakes.
 */
export async function proposedJob(
  name: string,
  imported: Pick<ImportResult, 'tracked' | 'notes'>,
): Promise<{
  /** The files that change, as they are to be; `before` is null where one is not there yet. */
  readonly files: readonly { readonly path: string; readonly before: string | null; readonly text: string }[]
  /** Queries, sites and notes that are new in them. */
  readonly queries: number
  readonly targets: readonly string[]
  readonly notes: number
  /** What the other tool had and the service or the job file cannot take, in sentences. */
  readonly notAvailable: readonly string[]
} | null> {
  const yaml = `${name}.yaml`
  const { rows, targets, notAvailable } = followedBy(imported)
  const isThere = existsSync(yaml)
  const known = isThere ? await askedBy(yaml) : noneAsked
  if (known === null) return null
  const [list = `${name}.csv`] = isThere ? peek.csvFiles(yaml) : []
  const before = existsSync(list) ? await readFile(list) : null
  const newTargets = targets.filter((target) => !known.targets.has(readCell.site(target)))
  const newNotes = imported.notes.filter(({ date, text }) => !known.notes.has(`${date} ${text}`))
  const added = rows.filter((row) => !known.asks(row))
  const lacking: string[] = []

  const files: { path: string; before: string | null; text: string }[] = []
  const change = (file: (typeof files)[number]): void => {
    if (file.text !== file.before) files.push(file)
  }
  const listText =
    before === null
      ? added.length === 0
        ? null
        : withRows('query\n', added)
      : encodingOf(before) === 'utf-8'
        ? withRows(before.toString(), added, rows)
        : null
  if (listText !== null) change({ path: list, before: before?.toString() ?? null, text: listText })
  else if (before !== null)
    lacking.push(`${list} is no list in UTF-8 with a column query: its rows stay as they are`)
  const yamlBefore = isThere ? await readFile(yaml, 'utf8') : null
  let text = yamlBefore ?? `name: ${JSON.stringify(name)}\noperation: alpha.search\n`
  const addItems = (under: string, items: readonly string[]): void => {
    const next = withItems(text, under, items)
    if (next === null) lacking.push(`${under}: of ${yaml} is no list: ${items.join(', ')} cannot be added`)
    else text = next
  }
  addItems(
    'targets',
    newTargets.map((target) => JSON.stringify(target)),
  )
  addItems(
    'notes',
    newNotes.map(({ date, text: what }) => `{ date: ${date}, text: ${JSON.stringify(what)} }`),
  )
  if (yamlBefore === null || (before === null && listText !== null))
    addItems('queries', [isThere ? `{ file: ${JSON.stringify(list)} }` : `file: ${JSON.stringify(list)}`])
  change({ path: yaml, before: yamlBefore, text })
  return {
    files: rows.length === 0 && !isThere ? [] : files.toReversed(),
    queries: added.length,
    targets: newTargets,
    notes: newNotes.length,
    notAvailable: [...notAvailable, ...lacking, ...(isThere ? [] : withoutCountry(rows, yaml))],
  }
}

/** What a new job does not say because the files do not. */
function withoutCountry(rows: readonly ListRow[], yaml: string): readonly string[] {
  const open = rows.filter(({ gl }) => gl === null || gl === '')
  if (open.length === 0) return []
  return [
    `No country is told for ${count(open.length, 'keyword')}, and the service would choose one. Write it into ${yaml}: 'params: { gl: us }'`,
  ]
}

interface Asked {
  readonly asks: (row: ListRow) => boolean
  readonly targets: ReadonlySet<string>
  readonly notes: ReadonlySet<string>
}

const noneAsked: Asked = { asks: () => false, targets: new Set(), notes: new Set() }

/** What a job file asks; null where it has mistakes. A query that names no country or language may be asked in any: none is bought twice. */
async function askedBy(file: string): Promise<Asked | null> {
  let hasMistakes = false
  const job = await openJob(file, {}, () => {
    hasMistakes = true
  })
  if (job === null) return null
  const queries = new Map<string, JobQuery['params'][]>()
  for await (const { text, params } of job.queries())
    queries.set(textInLowerCase(text), [...(queries.get(textInLowerCase(text)) ?? []), params])
  const isSame = (own: unknown, other = ''): boolean =>
    own === undefined || other === '' || String(own).toLowerCase() === other.toLowerCase()
  return hasMistakes
    ? null
    : {
        asks: ({ query, gl, hl }) =>
          (queries.get(textInLowerCase(query)) ?? []).some(
            (params) => isSame(params.gl, gl) && isSame(params.hl, hl),
          ),
        targets: new Set(job.settings.targets.map(({ site }) => readCell.site(site))),
        notes: new Set((job.settings.notes ?? []).map(({ date, text }) => `${date} ${text}`)),
      }
}

/** What was followed, as rows of a list. */
function followedBy({ tracked }: Pick<ImportResult, 'tracked'>) {
  const rows = new Map<string, ProposedRow>()
  const targets = new Set<string>()
  const devices = new Map<string, number>()
  const places = new Map<string, number>()
  const engines = new Set<string>()
  const codes = new Map<string, number>()
  let refused = 0
  let last: string | null = null
  for (const one of tracked) {
    if (one.target !== null && one.target !== '') targets.add(one.target)
    // A query stands there once for each of its targets.
    const followed = JSON.stringify([one.query, one.gl, one.hl, one.location, one.device, one.engine])
    if (followed === last) continue
    last = followed
    const read = queryText(one.query)
    if (!('value' in read)) {
      refused += 1
      continue
    }
    if (one.device !== null && one.device !== 'desktop') add(devices, one.device)
    if (one.location !== null) add(places, one.location)
    if (one.engine !== null && one.engine !== 'google') engines.add(one.engine)
    const gl = accepted('gl', one.gl, codes)
    const hl = accepted('hl', one.hl, codes)
    const key = JSON.stringify([textInLowerCase(read.value), gl, hl])
    const row = rows.get(key) ?? { query: read.value, gl, hl, volume: null, url: null, tags: new Set() }
    rows.set(key, row)
    row.volume ??= one.volume
    row.url ??= one.url
    for (const tag of JSON.parse(one.tags) as string[]) row.tags.add(tag.replace(/;/g, ','))
  }
  const sites = [...targets].filter((target) => 'value' in site(target))
  const nameless = [...targets].filter((target) => !sites.includes(target))
  return {
    rows: withoutWider([...rows.values()]).map(listRow),
    targets: sites,
    notAvailable: [
      ...(devices.size === 0
        ? []
        : [`The service has no devices: ${counted(devices)} become the same queries as on desktop`]),
      ...(places.size === 0
        ? []
        : [
            `The service spells places its own way: ${counted(places)} are left out. Write them as location, as in 'Austin, Texas', in a column of the CSV`,
          ]),
      ...(codes.size === 0
        ? []
        : [
            `The service does not have these countries and languages, and they are left out: ${counted(codes)}. Write their codes as gl and hl into the CSV`,
          ]),
      ...(engines.size === 0
        ? []
        : [`Other engines and parameters are not asked for: ${firstNames([...engines].sort())}`]),
      ...(nameless.length === 0
        ? []
        : [
            `No address of a site, and left out of the targets: ${firstNames(nameless.map((one) => `'${one}'`))}. Write the site there, and import with --target where the file allows it`,
          ]),
      ...(refused === 0 ? [] : [`Keywords that are no text to search for, left out: ${grouped(refused)}`]),
    ],
  }
}

/** The code of a country or a language, where a job can ask for it; else null, and it is counted. */
function accepted(name: 'gl' | 'hl', code: string | null, others: Map<string, number>): string | null {
  if (code === null || code === '') return null
  if (paramReaders.isTaken(name, code)) return code
  add(others, `${name} ${code}`)
  return null
}

/**
 * Without the rows that name no country, or no language, where another row of the same text names one: tools tell more or less of one market,
 * and nothing is to be bought twice. The other row has their volumes, pages and tags.
 */
function withoutWider(rows: readonly ProposedRow[]): readonly ProposedRow[] {
  const byText = groupedBy(rows, ({ query }) => textInLowerCase(query))
  return rows.filter((row) => {
    const others = byText.get(textInLowerCase(row.query)) ?? []
    const narrower = others.filter((other) => other !== row && isWithin(other, row))
    for (const other of narrower) {
      other.volume ??= row.volume
      other.url ??= row.url
      for (const tag of row.tags) other.tags.add(tag)
    }
    return narrower.length === 0
  })
}

/** Whether a market is told more exactly by one than by the other. */
function isWithin(one: ProposedRow, other: ProposedRow): boolean {
  return (other.gl ?? one.gl) === one.gl && (other.hl ?? one.hl) === one.hl
}

interface ProposedRow {
  readonly query: string
  readonly gl: string | null
  readonly hl: string | null
  volume: number | null
  url: string | null
  readonly tags: Set<string>
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function counted(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort((a, b) => b[1] - a[1])
  return firstNames(sorted.map(([name, n]) => `${grouped(n)} of '${name}'`))
}

function listRow({ query, gl, hl, volume, url, tags }: ProposedRow): ListRow {
  return {
    query,
    gl: gl ?? '',
    hl: hl ?? '',
    volume: volume === null ? '' : String(volume),
    url: url !== null && /^https?:\/\//i.test(url) ? url : '',
    tags: [...tags].join(';'),
  }
}

/** What a row of a job's list says, by column: `query` in each. */
type ListRow = Readonly<Record<string, string>> & { readonly query: string }

/**
 * A list of queries with more rows at its end, and with more in the rows that it has: a volume and a page where they have none, and tags beside
 * their own. Columns that are missing are put behind the others; all else stays as it is written. Null where no column of its first line is
 * called `query`, or `keyword`.
 */
export function withRows(
  csv: string,
  added: readonly ListRow[],
  known: readonly ListRow[] = [],
): string | null {
  const feed = csv.includes('\r\n') ? '\r\n' : '\n'
  const text = csv === '' || csv.endsWith('\n') ? csv : csv + feed
  const separator = separatorOf(text.split('\n', 1)[0] ?? '')
  const sign = String.fromCharCode(separator)
  const written = (cell: string): string =>
    cell.includes(sign) || /[";\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  const start = text.startsWith('\ufeff') ? 3 : 0
  const bytes = Buffer.from(text)
  const body = bytes.subarray(start)

  let names: string[] = []
  let missing: string[] = []
  let query = -1
  const parts: Buffer[] = [bytes.subarray(0, start)]
  let kept = 0
  const put = (from: number, to: number, cell: string): void => {
    parts.push(body.subarray(kept, from), Buffer.from(cell))
    kept = to
  }
  const byText = groupedBy(known, (row) => textInLowerCase(row.query))
  const parser = csvParser('', separator, (record) => {
    const cells = Array.from({ length: record.cells }, (_, place) => cellText(record, place).trim())
    const isQuoted = (place: number): boolean => body[(record.starts[place] as number) - 1] === 34
    const end = (record.ends[record.cells - 1] as number) + (isQuoted(record.cells - 1) ? 1 : 0)
    if (query === -1) {
      names = cells.map((name) => name.toLowerCase())
      query = names.findIndex((name) => name === 'query' || name === 'keyword')
      if (query === -1) return false
      names[query] = 'query'
      const wanted = [...added.flatMap(filled), ...known.flatMap(filled).filter((name) => !isMarket(name))]
      missing = [...new Set(wanted)].filter((name) => !names.includes(name))
      names.push(...missing)
      put(end, end, missing.map((name) => sign + name).join(''))
      return true
    }
    const row = byText.get(textInLowerCase(cells[query] ?? ''))?.find((one) => isOfMarket(one, names, cells))
    for (const [place, name] of names.slice(0, record.cells).entries()) {
      const [own = '', more = ''] = [cells[place], row?.[name]]
      const cell = name === 'tags' ? joinedTags(own, more) : own === '' && !isMarket(name) ? more : own
      const quotes = isQuoted(place) ? 1 : 0
      if (cell !== own)
        put((record.starts[place] as number) - quotes, (record.ends[place] as number) + quotes, written(cell))
    }
    put(end, end, missing.map((name) => sign + (isMarket(name) ? '' : written(row?.[name] ?? ''))).join(''))
    return true
  })
  parser.push(body)
  if (query === -1) return null
  parts.push(body.subarray(kept))
  const lines = added.map((row) => names.map((name) => written(row[name] ?? '')).join(sign) + feed)
  return Buffer.concat(parts).toString() + lines.join('')
}

/** The columns in which a row says something. */
function filled(row: ListRow): readonly string[] {
  return Object.keys(row).filter((name) => row[name] !== '')
}

const isMarket = (name: string): boolean => name === 'gl' || name === 'hl'

/** Whether a row of the list asks in the market of another one; a market that one of them does not name is any. */
function isOfMarket(row: ListRow, names: readonly string[], cells: readonly string[]): boolean {
  return ['gl', 'hl'].every((name) => {
    const [own = '', other = ''] = [cells[names.indexOf(name)], row[name]]
    return own === '' || other === '' || own.toLowerCase() === other.toLowerCase()
  })
}

/** Tags with those of another list that they lack. */
function joinedTags(own: string, more: string): string {
  const tags = own.split(';').map((tag) => tag.trim())
  const others = more.split(';').filter((tag) => tag !== '' && !tags.includes(tag))
  return others.length === 0 ? own : [...(own === '' ? [] : [own]), ...others].join(';')
}
