import { countryOrAll } from '../../../arrive/countries.ts'
import { readVolumes } from '../../../arrive/volumes.ts'
import { UsageError } from '../../../model/errors.ts'
import { count, grouped } from '../../../model/text.ts'
import { dayText, systemClock, utcMinute } from '../../../model/time.ts'
import { listOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { storedData } from '../../../run/open-stored.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import { pastDay } from '../../arguments.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'

const works = { add, list, undo }

const flags = {
  country: textOption('The country of rows that name none: two letters such as us, or all'),
  date: textOption(
    'The day of rows whose day is missing or cannot be read; default: that which the file says, else today',
  ),
  column: listOption('What a column of the file is called: --column query=Phrase --column volume=Searches'),
  ...sharedFlags.wait,
} satisfies OptionSpecs

export type VolumesFlags = TypedOptions<typeof flags> & { readonly what: string; readonly file?: string }

export const volumesCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 6, 7, 130],
  docs: 'docs/clicks.md',
  examples: [
    ['volumes add "Keyword Stats 2026-11-01.csv" --country us', 'from Keyword Planner'],
    ['volumes add words.csv --column volume=Searches --country de', 'any CSV'],
    ['volumes list', 'what was added, with its source, countries and days'],
    ['volumes undo 3', 'takes the third addition away'],
  ],
  run: volumes,
} satisfies Command

/** `rankline volumes`: search volumes of other tools, for every job that names none. */
export async function volumes(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork('volumes', works, flags.what)
  for (const flag of ['country', 'date', 'column'] as const)
    if (what !== 'add' && flags[flag] !== undefined)
      throw new UsageError(`rankline volumes ${what} takes no --${flag}. It belongs to: rankline volumes add`)
  return await works[what](flags, terminal)
}

async function add(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  if (flags.file === undefined)
    throw new UsageError('Name the file: rankline volumes add volumes.csv --country us')
  const now = systemClock.wall()
  const { source, rows, empty, warning } = await readVolumes(flags.file, {
    country: countryOption(flags.country),
    day: flags.date === undefined ? null : pastDay('--date', flags.date, now),
    columns: columnOption(flags.column),
    now,
  })
  const database = databaseFile.path(flags)
  databaseFile.makeDefaultFolder(database)
  await using changed = await storedData.change(database, {
    wait: flags.wait,
    beside: true,
    log: (line) => note(terminal, line),
  })
  const added = await changed.store.addVolumes(rows)
  const ranges = rows.filter(({ volume }) => volume === null).length
  const days = rows.map(({ day }) => day)
  const [oldest, newest] = [days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))].map(
    dayText,
  )
  const countries = [...new Set(rows.map(({ country }) => country))].sort()
  if (flags.json === true) {
    const document = {
      id: added.id,
      new: added.isNew,
      source,
      volumes: rows.length - ranges,
      ranges,
      empty,
      countries,
      from: oldest,
      until: newest,
      warnings: warning === null ? [] : [warning],
    }
    await terminal.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  }
  if (!added.isNew) {
    await terminal.write(`This was added before, as ${added.id}. Nothing was stored.\n`)
    return 0
  }
  const where = countriesText(countries)
  const when = oldest === newest ? `of ${newest}` : `of ${oldest} to ${newest}`
  const lines = [
    `${count(rows.length - ranges, 'volume')} from ${sanitize(source)} (${where}, ${when}), added as ${added.id}: jobs that name none use them from now on.`,
    ...(ranges === 0
      ? []
      : [
          `${count(ranges, 'keyword')} ${ranges === 1 ? 'has' : 'have'} a range and no number, as accounts with little spending get them: the ranges are kept, and not used as volumes.`,
        ]),
    ...(empty === 0 ? [] : [`${count(empty, 'row')} without a volume.`]),
    ...(warning === null ? [] : [sanitize(warning)]),
  ]
  await terminal.write(`${lines.join('\n')}\n`)
  return 0
}

/** `rankline volumes list`: what was added. */
async function list(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  if (flags.file !== undefined)
    throw new UsageError(`rankline volumes list takes no '${flags.file}'. Leave it out`)
  await using store = await storedData.read(flags)
  const additions = await store.volumeAdditions()
  if (flags.json === true) {
    const document = additions.map(({ rows, addedAt, from, until, volumes, ...one }) => ({
      ...one,
      added_at: new Date(addedAt).toISOString(),
      volumes,
      ranges: rows - volumes,
      from: dayText(from),
      until: dayText(until),
    }))
    await terminal.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  }
  if (additions.length === 0) {
    terminal.log('No search volumes were added yet. Add them with: rankline volumes add <file> --country us')
    return 0
  }
  const rows = additions.map(({ id, addedAt, source, countries, rows, volumes, from, until, file }) => [
    String(id),
    utcMinute(addedAt),
    sanitize(source),
    countriesText(countries),
    from === until ? dayText(from) : `${dayText(from)} to ${dayText(until)}`,
    grouped(volumes),
    grouped(rows - volumes),
    sanitize(file),
  ])
  await terminal.write(formatTable(columns, rows, terminal.columns))
  return 0
}

const columns = [
  { title: 'id', align: 'right' },
  { title: 'added (UTC)', dropped: true },
  { title: 'from', shrinks: true, least: 12 },
  { title: 'countries', shrinks: true, least: 9 },
  { title: 'of' },
  { title: 'volumes', align: 'right' },
  { title: 'ranges', align: 'right' },
  { title: 'file', shrinks: true, dropped: true },
] as const

function countriesText(countries: readonly string[]): string {
  return countries.map((country) => (country === '' ? 'all countries' : country)).join(', ')
}

/** `rankline volumes undo`: an addition goes as a whole, and what it had replaced counts again. */
async function undo(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  const { file: name } = flags
  if (name === undefined || !/^\d+$/.test(name))
    throw new UsageError(
      'Name the addition by its number: rankline volumes undo 3. List them with: rankline volumes list',
    )
  const id = Number(name)
  const database = databaseFile.path(flags)
  requireDatabase(database)
  await using changed = await storedData.change(database, {
    wait: flags.wait,
    beside: true,
    log: (line) => note(terminal, line),
  })
  const addition = (await changed.store.volumeAdditions()).find((one) => one.id === id)
  if (addition === undefined)
    throw new UsageError(`There is no addition ${id}. List them with: rankline volumes list`)
  await changed.store.undoVolumes(id)
  const { source, rows } = addition
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ undone: id, source }, null, 2)}\n`
      : `Undone: ${id}, ${count(rows, 'keyword')} of ${sanitize(source)}.\n`,
  )
  return 0
}

function countryOption(country: string | undefined): string | null {
  if (country === undefined) return null
  const code = countryOrAll(country)
  if (code !== null) return code
  throw new UsageError(`--country cannot be '${country}'; write two letters such as us, or all`)
}

const known = ['query', 'volume', 'country', 'day']

function columnOption(pairs: readonly string[] = []) {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', column = ''] = pair.match(/^(\w+)=(.+)$/s) ?? []
      if (!known.includes(name))
        throw new UsageError(
          `--column cannot be '${pair}'; write one of ${known.join(', ')}, = and the name of the column`,
        )
      return [name, column]
    }),
  )
}
