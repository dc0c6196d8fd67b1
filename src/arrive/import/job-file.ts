import { firstNames, grouped } from '../../model/text.ts'
import { queryText } from '../../model/values.ts'
import type { ImportResult } from '../../store/sqlite/imports/imports.ts'

/** A job that asks what was followed elsewhere, as the two files that say so. */
export interface ProposedJob {
  readonly yaml: string
  readonly csv: string
  readonly queries: number
  readonly targets: readonly string[]
  /** What the other tool had and the service has not, in sentences. */
  readonly notAvailable: readonly string[]
}

/** The job file of what an import followed: its keywords, each once for a country and language, with volumes, tags and pages. */
export function proposedJob(name: string, { tracked }: Pick<ImportResult, 'tracked'>): ProposedJob {
  const rows = new Map<string, ProposedRow>()
  const targets = new Set<string>()
  const devices = new Map<string, number>()
  const places = new Map<string, number>()
  const engines = new Set<string>()
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
    const gl = one.gl !== null && /^[a-z]{2}$/.test(one.gl) ? one.gl : null
    const hl = one.hl !== null && /^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(one.hl) ? one.hl : null
    const key = JSON.stringify([read.value, gl, hl])
    const row = rows.get(key) ?? { query: read.value, gl, hl, volume: null, url: null, tags: new Set() }
    rows.set(key, row)
    row.volume ??= one.volume
    row.url ??= one.url
    for (const tag of JSON.parse(one.tags) as string[]) row.tags.add(tag.replace(/;/g, ','))
  }
  const list = [...rows.values()]
  return {
    yaml: yamlOf(name, [...targets]),
    csv: csvOf(list),
    queries: list.length,
    targets: [...targets],
    notAvailable: [
      ...(devices.size === 0
        ? []
        : [`The service has no devices: ${counted(devices)} become the same queries as on desktop`]),
      ...(places.size === 0
        ? []
        : [
            `The service spells places its own way: ${counted(places)} are left out. Write them as location, as in 'Austin, Texas', in a column of the CSV`,
          ]),
      ...(engines.size === 0
        ? []
        : [`Other engines and parameters are not asked for: ${firstNames([...engines].sort())}`]),
      ...(refused === 0 ? [] : [`Keywords that are no text to search for, left out: ${grouped(refused)}`]),
    ],
  }
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

function yamlOf(name: string, targets: readonly string[]): string {
  const sites = targets.map((target) => `  - ${JSON.stringify(target)}`)
  return [
    `name: ${JSON.stringify(name)}`,
    'operation: alpha.search',
    ...(sites.length === 0 ? [] : ['targets:', ...sites]),
    'queries:',
    `  - file: ${JSON.stringify(`${name}.csv`)}`,
    '',
  ].join('\n')
}

/** Columns that no row has a value for are left out. */
function csvOf(rows: readonly ProposedRow[]): string {
  const columns = [
    { name: 'query', of: (row: ProposedRow) => row.query },
    { name: 'gl', of: (row: ProposedRow) => row.gl ?? '' },
    { name: 'hl', of: (row: ProposedRow) => row.hl ?? '' },
    { name: 'volume', of: (row: ProposedRow) => (row.volume === null ? '' : String(row.volume)) },
    {
      name: 'url',
      of: (row: ProposedRow) => (row.url !== null && /^https?:\/\//i.test(row.url) ? row.url : ''),
    },
    { name: 'tags', of: (row: ProposedRow) => [...row.tags].join(';') },
  ].filter(({ of }, index) => index === 0 || rows.some((row) => of(row) !== ''))
  const line = (cells: readonly string[]): string =>
    cells.map((cell) => (/[",\n\r;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')
  return `${[line(columns.map(({ name }) => name)), ...rows.map((row) => line(columns.map(({ of }) => of(row))))].join('\n')}\n`
}
