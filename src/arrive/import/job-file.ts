import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { openJob } from '../../jobfile/open.ts'
import { csvFilesOf } from '../../jobfile/peek.ts'
import { withItems } from '../../jobfile/yaml.ts'
import type { JobQuery } from '../../model/query.ts'
import { count, encodingOf, firstNames, grouped } from '../../model/text.ts'
import { queryText } from '../../model/values.ts'
import { queryKey } from '../../store/sqlite/clicks/draft.ts'
import type { ImportResult } from '../../store/sqlite/imports/imports.ts'
import { type ListRow, withRows } from '../list-rows.ts'
import { siteOf } from './values.ts'

/** A file of a job as it is to be. */
interface ProposedFile {
  readonly path: string
  /** Null where it is not there yet. */
  readonly before: string | null
  readonly text: string
}

/** What a job lacks of what was followed elsewhere, as the files that say it. */
export interface ProposedJob {
  /** The files that change. */
  readonly files: readonly ProposedFile[]
  /** Queries, sites and notes that are new in them. */
  readonly queries: number
  readonly targets: readonly string[]
  readonly notes: number
  /** What the other tool had and the service or the job file cannot take, in sentences. */
  readonly notAvailable: readonly string[]
}

/**
 * The job file of what an import followed: its keywords, each once for a country and language, with volumes, tags and pages. A job that is
 * there keeps what it says, and gets what it lacks. Null where its file has mistakes.
 */
export async function proposedJob(
  name: string,
  imported: Pick<ImportResult, 'tracked' | 'notes'>,
): Promise<ProposedJob | null> {
  const yaml = `${name}.yaml`
  const { rows, targets, notAvailable } = followedBy(imported)
  const isThere = existsSync(yaml)
  const known = isThere ? await askedBy(yaml) : noneAsked
  if (known === null) return null
  const [list = `${name}.csv`] = isThere ? await csvFilesOf(yaml) : []
  const before = existsSync(list) ? await readFile(list) : null
  const newTargets = targets.filter((target) => !known.targets.has(siteOf(target)))
  const newNotes = imported.notes.filter(({ date, text }) => !known.notes.has(`${date} ${text}`))
  const added = rows.filter((row) => !known.asks(row))
  const lacking: string[] = []

  const files: ProposedFile[] = []
  const change = (file: ProposedFile): void => {
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
    queries.set(queryKey(text), [...(queries.get(queryKey(text)) ?? []), params])
  const isSame = (own: unknown, other = ''): boolean =>
    own === undefined || other === '' || String(own).toLowerCase() === other.toLowerCase()
  return hasMistakes
    ? null
    : {
        asks: ({ query, gl, hl }) =>
          (queries.get(queryKey(query)) ?? []).some(
            (params) => isSame(params.gl, gl) && isSame(params.hl, hl),
          ),
        targets: new Set(job.settings.targets.map(({ site }) => siteOf(site))),
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
  return {
    rows: [...rows.values()].map(listRow),
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
