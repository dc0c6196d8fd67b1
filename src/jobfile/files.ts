import { isUtf8 } from 'node:buffer'
import { accessSync, constants, existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import path, { dirname, relative, resolve } from 'node:path'
import { closestMatch, editDistance, encodingOf } from '../model/text.ts'
import type { InvalidValue } from '../model/values.ts'
import type { Report } from './source.ts'

const maxYaml = 8 * 1024 * 1024
const yamlTooLarge: InvalidValue = {
  message: 'the file is larger than 8 MB',
  fix: "put the queries in a CSV and name it with '- file:'",
}

/** A job as text: what mistakes call it, and its bytes. */
export interface JobText {
  readonly where: string
  readonly bytes: Buffer
  /** The job file that had this text before; missing where it never had a file. */
  readonly path?: string
}

/** Whether a text without a name is YAML: its first line that says something is a key, or opens a map. All else is CSV. */
function isYamlMap(bytes: Buffer): boolean {
  const start = toUtf8(bytes.subarray(0, 64 * 1024))
    .toString('utf8')
    .replace(/^\ufeff/, '')
  const first = start.split(/\r\n|\r|\n/).find((line) => !/^\s*(#.*)?$|^(---|%)/.test(line)) ?? ''
  return /^\s*(\{|\? |("[^"]*"|'[^']*'|[^\s"',;{[-][^:,;\t]*?)\s*:(\s|$))/.test(first)
}

/** Why a text cannot be read as YAML; null where it can. */
function yamlTextMistake({ bytes }: JobText): InvalidValue | null {
  return bytes.length > maxYaml ? yamlTooLarge : null
}

/** Why a file cannot be read as a job file or as the CSV file of one; null where it can. */
export function fileMistake(
  file: string,
  extensions: readonly string[] = jobExtensions,
): InvalidValue | null {
  const found = attempted(() => statSync(file))
  if (found instanceof Error) return { ...unreadable(found), ...nearlyNamed(file, extensions) }
  if (found.isDirectory()) return { message: 'this is a directory', fix: 'name the job file in it' }
  if (!found.isFile()) return { message: 'this is not a regular file', fix: 'save it as a file first' }
  const extension = path.extname(file).toLowerCase()
  if (!extensions.includes(extension))
    return {
      message: extension === '' ? 'the file has no extension' : `a file ${extension} cannot be read`,
      fix: `write a file that ends in ${extensions.join(', ')}`,
    }
  if (/^\.ya?ml$/.test(extension) && found.size > maxYaml) return yamlTooLarge
  const refused = attempted(() => accessSync(file, constants.R_OK))
  return refused instanceof Error ? unreadable(refused) : null
}

/** What it answers, or its error. */
export function attempted<T>(look: () => T): T | NodeJS.ErrnoException {
  try {
    return look()
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

/** The fix that names a file of the same folder that may have been meant; nothing where there is none. */
function nearlyNamed(file: string, extensions: readonly string[]): Partial<Pick<InvalidValue, 'fix'>> {
  const folder = path.dirname(file)
  const there = attempted(() => readdirSync(folder))
  // A link to nowhere stands in the folder under its own name.
  const names = (there instanceof Error ? [] : there).filter(
    (name) => name !== path.basename(file) && extensions.includes(path.extname(name).toLowerCase()),
  )
  const stem = (name: string): string => path.basename(name, path.extname(name))
  const meant = stem(file)
  const longer = [...new Set(names.map(stem))].filter((name) => name.startsWith(meant))
  const near = closestMatch(meant, names.map(stem)) ?? (longer.length === 1 ? (longer[0] ?? null) : null)
  // Names of a letter or two are all near.
  if (near === null || (!near.startsWith(meant) && editDistance(near, meant) * 2 > meant.length)) return {}
  const same = names.filter((name) => stem(name) === near)
  const name = same.find((one) => path.extname(one) === path.extname(file)) ?? same[0] ?? near
  return { fix: `did you mean ${path.join(folder, name)}?` }
}

/** The path of a CSV file that a job file names: relative to the job file, or absolute. */
function fromJobFile(jobFile: string, named: string): string {
  return path.isAbsolute(named) ? named : path.join(path.dirname(jobFile), named)
}

/** The error of the operating system, for people. */
export function unreadable({ code, message }: NodeJS.ErrnoException): InvalidValue {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { message: 'there is no such file', fix: 'check the path' }
  if (code === 'EACCES' || code === 'EPERM')
    return { message: 'you are not allowed to read the file', fix: 'change its permissions' }
  return { message: `the file cannot be read (${code ?? message})`, fix: 'check the path' }
}

/** The text of a YAML file; null where it is not UTF-8, which is reported with its line. */
function yamlText(written: Buffer, where: string, report: Report): string | null {
  const bytes = toUtf8(written)
  const wrong = notText(bytes)
  if (wrong !== null) report({ where, line: null, column: null, ...wrong })
  else if (isUtf8(bytes)) return bytes.toString('utf8')
  else
    report({
      where,
      line: brokenLine(bytes),
      column: null,
      message: 'the line is not UTF-8',
      fix: 'save the file as UTF-8',
    })
  return null
}

function toUtf8(bytes: Buffer): Buffer {
  const encoding = encodingOf(bytes)
  return encoding === 'utf-8' ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes))
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

const signatures: readonly { readonly bytes: readonly number[]; readonly mistake: InvalidValue }[] = [
  {
    bytes: [0x50, 0x4b, 3, 4],
    mistake: { message: 'the file is a workbook or an archive', fix: 'save the table as CSV in UTF-8' },
  },
  { bytes: [0x1f, 0x8b], mistake: { message: 'the file is compressed', fix: 'unpack it first' } },
]

/** Why a file that begins with these bytes is not UTF-8 text; null where it may be. */
function notText(start: Buffer): InvalidValue | null {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))
  if (found !== undefined) return found.mistake
  if (start.subarray(0, 1000).includes(0))
    return { message: 'the file is UTF-16 or not text', fix: 'save it as UTF-8' }
  return null
}

/** The file that holds what the jobs of a workspace share. */
export const workspaceFile = 'rankline.yaml'

/**
 * The nearest folder that holds such a file, from a folder upward; null where there is none. The search ends with the home folder and
 * the root, and at the first folder that is another owner's or that everyone may write into, as `/tmp`: no other user may say where a
 * key is sent.
 *
 * @param isHere whether a folder of ours holds what is sought
 */
function upwardFrom(folder: string, isHere: (folder: string) => boolean): string | null {
  const owners = ownersFor(folder)
  for (let here = resolve(folder); ; here = dirname(here)) {
    if (isHere(here)) return here
    const parent = dirname(here)
    if (here === homedir() || parent === here) return null
    const found = stated(parent)
    if (found !== null && (!owners.has(found.uid) || isForAll(found))) return null
  }
}

/** The same for a file of that name, which may be no folder. */
function folderOfFile(name: string, folder: string): string | null {
  const owners = ownersFor(folder)
  let isStart = true
  return upwardFrom(folder, (here) => {
    const found = stated(resolve(here, name))
    // What lies beside a job was chosen with it.
    const isOurs = found !== null && !found.isDirectory() && (isStart || owners.has(found.uid))
    isStart = false
    return isOurs
  })
}

/** The folder of `rankline.yaml` for a job file's folder; that folder itself where there is none. */
function workspaceFolder(folder: string): string {
  const found = folderOfFile(workspaceFile, folder)
  return found === null || found === resolve(folder) ? folder : shownPath(found)
}

/** Endings of files with queries. */
export const tableExtensions: readonly string[] = ['.csv', '.tsv', '.txt']
/** Endings of job files, in the order in which a name is tried with them. */
const jobExtensions: readonly string[] = ['.yaml', '.yml', ...tableExtensions]

/** The file or folder of jobs that was named, with or without its ending; null where there is none. */
function jobFileNamed(text: string): string | null {
  if (existsSync(text)) return text
  const found = jobExtensions.find((ending) => existsSync(`${text}${ending}`))
  return found === undefined ? null : `${text}${found}`
}

/** Whether a path is a folder. False where it cannot be looked at: the reader then reports why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** A path as a user of the working folder would write it. */
function shownPath(path: string): string {
  const short = relative('', path) || '.'
  return short.startsWith('..') ? resolve(path) : short
}

/** Windows knows no such mode. */
function isForAll({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o002) !== 0
}

/** Whose files may speak for a folder: this user's, the folder owner's and the system's. */
function ownersFor(folder: string): ReadonlySet<number> {
  return new Set([0, process.getuid?.() ?? 0, stated(folder)?.uid ?? 0])
}

function stated(path: string): Stats | null {
  const found = attempted(() => (existsSync(path) ? statSync(path) : null))
  return found instanceof Error ? null : found
}

/** Where job files and their workspaces lie. */
export const jobPlaces = {
  shown: shownPath,
  upwardFrom,
  folderOf: folderOfFile,
  isFolder,
  fromJobFile,
  named: jobFileNamed,
  workspaceFolder,
}

/** What is read as YAML. */
export const yamlTexts = {
  of: yamlText,
  mistakeIn: yamlTextMistake,
  isMap: isYamlMap,
  notText,
}
