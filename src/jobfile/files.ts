import { isUtf8 } from 'node:buffer'
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { notText } from './csv-bytes.ts'
import type { Mistake, Report } from './problem.ts'

const maxYaml = 8 * 1024 * 1024
const yamlTooLarge: Mistake = {
  what: 'the file is larger than 8 MB',
  instead: "put the queries in a CSV and name it with '- file:'",
}

/** A job that did not come from a file: what mistakes call it, and its text. */
export interface JobText {
  readonly where: string
  readonly bytes: Buffer
}

/** Whether a text without a name is YAML: its first line that says something is a key, or opens a map. All else is CSV. */
export function isYamlMap(bytes: Buffer): boolean {
  const start = bytes.toString('utf8', 0, 64 * 1024).replace(/^\ufeff/, '')
  const first = start.split(/\r\n|\r|\n/).find((line) => !/^\s*(#.*)?$|^(---|%)/.test(line)) ?? ''
  return /^\s*(\{|\? |("[^"]*"|'[^']*'|[^\s"',;{[-][^:,;\t]*?)\s*:(\s|$))/.test(first)
}

/** Why a text cannot be read as YAML; null where it can. */
export function yamlTextMistake({ bytes }: JobText): Mistake | null {
  return bytes.length > maxYaml ? yamlTooLarge : null
}

/** Why a file cannot be read as a job file or as the CSV file of one; null where it can. */
export async function fileMistake(
  file: string,
  extensions = ['.yaml', '.yml', '.csv', '.tsv'],
): Promise<Mistake | null> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) return unreadable(found)
  if (found.isDirectory()) return { what: 'this is a directory', instead: 'name the job file in it' }
  if (!found.isFile()) return { what: 'this is no regular file', instead: 'save it as a file first' }
  const extension = path.extname(file).toLowerCase()
  if (!extensions.includes(extension))
    return {
      what: extension === '' ? 'the file has no extension' : `a file ${extension} cannot be read`,
      instead: `write a file that ends in ${extensions.join(', ')}`,
    }
  if (/^\.ya?ml$/.test(extension) && found.size > maxYaml) return yamlTooLarge
  return await access(file, constants.R_OK).then(() => null, unreadable)
}

/** Where a CSV file lies that a job file names: beside it, unless its path is absolute. */
export function besideJobFile(jobFile: string, named: string): string {
  return path.isAbsolute(named) ? named : path.join(path.dirname(jobFile), named)
}

/** What the system said of a file, for people. */
export function unreadable({ code, message }: NodeJS.ErrnoException): Mistake {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { what: 'there is no such file', instead: 'check the path' }
  if (code === 'EACCES' || code === 'EPERM')
    return { what: 'the file may not be read', instead: 'give yourself the right to read it' }
  return { what: `the file cannot be read (${code ?? message})`, instead: 'check the path' }
}

/** The text of a YAML file; null where it is no UTF-8, which is reported with its line. */
export function yamlText(bytes: Buffer, where: string, report: Report): string | null {
  const wrong = notText(bytes)
  if (wrong !== null) report({ where, line: null, column: null, ...wrong })
  else if (isUtf8(bytes)) return bytes.toString('utf8')
  else
    report({
      where,
      line: brokenLine(bytes),
      column: null,
      what: 'the line is no UTF-8',
      instead: 'save the file as UTF-8',
    })
  return null
}

function brokenLine(bytes: Buffer): number {
  let line = 1
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return line
    line++
    start = end + 1
  }
  return line
}
