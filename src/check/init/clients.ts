import { readCsv } from '../../jobfile/csv.ts'
import { unreadable } from '../../jobfile/files.ts'
import type { Report } from '../../jobfile/source.ts'
import { quoted } from '../../model/values.ts'
import { readPlace, readSite, readTime, type WorkspaceAnswers } from './answers.ts'

/** A client of an agency, and what its job is about. */
export interface Client extends WorkspaceAnswers {
  /** As reports say it. */
  readonly client: string
  /** Its job: the name in small letters, with hyphens. */
  readonly job: string
}

const columns = ['name', 'site', 'country', 'language', 'at'] as const
type ClientColumn = (typeof columns)[number]

/** Reads a table of clients; what a row leaves out is as usual. Every mistake is reported, and its row left out. */
export async function readClients(
  path: string,
  usual: WorkspaceAnswers,
  report: Report,
): Promise<readonly Client[]> {
  const clients: Client[] = []
  let places: Readonly<Partial<Record<ClientColumn, number>>> | null = null
  const at = (line: number | null) => ({ where: path, line, column: null })
  const readRow = (cells: readonly string[], line: number): void => {
    const cell = (column: ClientColumn): string => cells[places?.[column] ?? -1]?.trim() ?? ''
    const client = cell('name')
    const job = jobOf(client)
    const read = {
      site: readSite(cell('site')),
      place: readPlace(`${cell('country') || usual.country} ${cell('language')}`.trim()),
      at: cell('at') === '' ? { value: { hour: usual.hour, minute: usual.minute } } : readTime(cell('at')),
    }
    for (const [what, result] of Object.entries(read))
      if ('message' in result)
        report({
          ...at(line),
          message: `${what === 'place' ? 'country or language' : what} ${result.message}`,
          fix: result.fix,
        })
    if (job === '')
      report({
        ...at(line),
        message: `name cannot be ${quoted(client)}`,
        fix: 'write the name of the client',
      })
    const twin = clients.find((one) => one.job === job)
    if (job !== '' && twin !== undefined)
      report({
        ...at(line),
        message: `${quoted(client)} has the same job as ${quoted(twin.client)}: ${job}`,
        fix: 'give one of them another name',
      })
    if (!('value' in read.site && 'value' in read.place && 'value' in read.at) || job === '') return
    const { timezone } = usual
    clients.push({ client, job, timezone, ...read.site.value, ...read.place.value, ...read.at.value })
  }
  try {
    for await (const items of readCsv(path, () => {}, {
      look: lookOf,
      mayBeList: false,
      textsAreMapped: false,
    }))
      for (const item of items) {
        if ('mistake' in item) report({ ...at(item.line), ...item.mistake })
        else if (!('head' in item)) readRow(item.cells, item.line)
        else {
          places = placesOf(item.head.cells)
          if (places.name === undefined || places.site === undefined) {
            report({
              ...at(item.head.line || 1),
              message: 'the columns name and site are missing',
              fix: 'begin with: name,site,country,language,at',
            })
            return []
          }
        }
      }
  } catch (error) {
    report({ ...at(null), ...unreadable(error as NodeJS.ErrnoException) })
  }
  return clients
}

function placesOf(cells: readonly string[]): Readonly<Partial<Record<ClientColumn, number>>> {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  return Object.fromEntries(
    columns.flatMap((column) => (names.includes(column) ? [[column, names.indexOf(column)]] : [])),
  )
}

function lookOf(cells: readonly string[]) {
  const { name, site, ...others } = placesOf(cells)
  const isHeader = name !== undefined && site !== undefined
  return { isHeader, weight: isHeader ? 2 + Object.keys(others).length : 0 }
}

function jobOf(client: string): string {
  return client
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
}
