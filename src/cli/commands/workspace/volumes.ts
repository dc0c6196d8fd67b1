import { readDay } from '../../../arrive/clicks/rows.ts'
import { twoLetters } from '../../../arrive/countries.ts'
import { readVolumes } from '../../../arrive/volumes.ts'
import { UsageError } from '../../../model/errors.ts'
import { listOption, type OptionSpecs, textOption } from '../../../model/option.ts'
import { count } from '../../../model/text.ts'
import { dayMs, dayText, systemClock } from '../../../model/time.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databasePath, makeDefaultFolder } from '../../../run/config.ts'
import { openToChange } from '../../../run/open-stored.ts'
import { type Command, chosenWork, type TypedOptions, waitFlags } from '../../flags.ts'

const works = { add }

const flags = {
  country: textOption('The country of a file that names none: two letters such as us, or all'),
  date: textOption('The day that the file is of; default: the day that it says, else today'),
  column: listOption('What a column of the file is called: --column query=Phrase --column volume=Searches'),
  ...waitFlags,
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
  ],
  run: volumes,
} satisfies Command

/** `rankline volumes`: search volumes of other tools, for every job that names none. */
export async function volumes(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  return await works[chosenWork('volumes', works, flags.what)](flags, terminal)
}

async function add(flags: VolumesFlags, terminal: Terminal): Promise<number> {
  if (flags.file === undefined)
    throw new UsageError('Name the file: rankline volumes add volumes.csv --country us')
  const now = systemClock.wall()
  const { source, rows, empty } = await readVolumes(flags.file, {
    country: countryOption(flags.country),
    day: dayOption(flags.date),
    columns: columnOption(flags.column),
    now,
    today: Math.floor(now / dayMs),
  })
  const database = databasePath(flags)
  makeDefaultFolder(database)
  await using changed = await openToChange(database, {
    wait: flags.wait,
    beside: true,
    log: (line) => note(terminal, line),
  })
  await changed.store.addVolumes(rows)
  const ranges = rows.filter(({ volume }) => volume === null).length
  const days = rows.map(({ day }) => day)
  const [oldest, newest] = [days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))].map(
    dayText,
  )
  const countries = [...new Set(rows.map(({ country }) => country))].sort()
  if (flags.json === true) {
    const document = {
      source,
      volumes: rows.length - ranges,
      ranges,
      empty,
      countries,
      from: oldest,
      until: newest,
    }
    await terminal.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  }
  const where = countries.map((country) => (country === '' ? 'all countries' : country)).join(', ')
  const when = oldest === newest ? `of ${newest}` : `of ${oldest} to ${newest}`
  const lines = [
    `${count(rows.length - ranges, 'volume')} from ${sanitize(source)} (${where}, ${when}): jobs that name none use them from now on.`,
    ...(ranges === 0
      ? []
      : [
          `${count(ranges, 'keyword')} ${ranges === 1 ? 'has' : 'have'} a range and no number, as accounts with little spending get them: the ranges are kept, and not used as volumes.`,
        ]),
    ...(empty === 0 ? [] : [`${count(empty, 'row')} without a volume.`]),
  ]
  await terminal.write(`${lines.join('\n')}\n`)
  return 0
}

function countryOption(country: string | undefined): string | null {
  if (country === undefined) return null
  if (country === 'all') return ''
  const code = twoLetters(country)
  if (/^[a-z]{2}$/.test(code)) return code
  throw new UsageError(`--country cannot be '${country}'; write two letters such as us, or all`)
}

function dayOption(date: string | undefined): number | null {
  if (date === undefined) return null
  const day = readDay(date)
  if (day !== -1 && date.length === 10) return day
  throw new UsageError(`--date cannot be '${date}'; write a day such as 2026-11-01`)
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
