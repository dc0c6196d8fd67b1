import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix, win32 } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RanklineError, UsageError } from '../model/errors.ts'
import { signalCodes } from '../model/run.ts'
import { sanitizeLine } from '../output/terminal.ts'
import { reportPageContent } from '../report/build-data.ts'
import type { PageContent } from '../report/data.ts'
import type { BrowserPlaces, ReportFormat, ReportSource } from '../report/report.ts'
import { paperPage, reportAssets } from './html.ts'

/** The page on paper, printed by an installed browser. */
export const pdfFormat: ReportFormat = {
  chunks: (source) => {
    // Before anything is written.
    findBrowser(source.print.browsers)
    return printed(reportPageContent(source), source.print)
  },
  binary: true,
  measured: true,
  document: true,
  commented: true,
  printed: true,
}

async function* printed(
  data: PageContent,
  { browsers, paper }: ReportSource['print'],
): AsyncGenerator<Uint8Array> {
  yield await printPdf(await paperPage(data, await reportAssets(data.presentation.language), paper), browsers)
}

const linuxNames = [
  // Chromium without windows, a package of Debian's, prints in half of the processor time.
  'chromium-headless-shell',
  ...['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'],
  ...['microsoft-edge-stable', 'microsoft-edge'],
]
const linuxPlaces = ['/opt/google/chrome/chrome', '/snap/bin/chromium']
const macPrograms = [
  'Google Chrome.app/Contents/MacOS/Google Chrome',
  'Chromium.app/Contents/MacOS/Chromium',
  'Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]
const windowsNames = ['chrome.exe', 'chromium.exe', 'msedge.exe']
const windowsPrograms = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
]

/** Files that may be Chromium, Chrome or Edge, the best guess first. */
export function browserCandidates({ platform, path, programs, home }: BrowserPlaces): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  const inEach = (folders: readonly string[], names: readonly string[]): readonly string[] =>
    names.flatMap((name) => folders.map((folder) => join(folder, name)))
  if (platform === 'win32') return [...inEach(programs, windowsPrograms), ...inEach(path, windowsNames)]
  const onPath = inEach(path, linuxNames)
  if (platform === 'darwin')
    return [...inEach(['/Applications', join(home, 'Applications')], macPrograms), ...onPath]
  return [...onPath, ...linuxPlaces]
}

/** The browser that prints. Throws a sentence with what to do if there is none. */
export function findBrowser(places: BrowserPlaces): string {
  const { named } = places
  if (named !== null) {
    if (existsSync(named)) return named
    throw new UsageError(
      `CHROME_PATH names ${named}, which does not exist. Name the program file of Chromium, Chrome or Edge`,
    )
  }
  const found = browserCandidates(places).find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new UsageError(
    'A PDF is printed by Chromium, Chrome or Edge, and none is installed. Install one, name its program file in CHROME_PATH, or write --format html and print that page',
  )
}

/** Far longer than the largest report takes. */
const printTimeoutMs = 180_000

/** The PDF that a browser prints of an HTML document. The document needs no script and loads nothing. */
export async function printPdf(document: string, places: BrowserPlaces): Promise<Uint8Array> {
  const browser = findBrowser(places)
  const folder = await temporaryFolder(folderFor(browser, places))
  const [page, pdf] = [join(folder, 'page.html'), join(folder, 'report.pdf')]
  try {
    await writeFile(page, document)
    const args = [
      ...printArguments,
      // Chromium has no sandbox for root. What it prints here has no script.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      `--user-data-dir=${join(folder, 'profile')}`,
      `--print-to-pdf=${pdf}`,
      pathToFileURL(page).href,
    ]
    const said = await runBrowser(browser, args, environmentIn(folder, places))
    const bytes = await readFile(pdf).catch((cause) => {
      throw notPrinted(browser, said, cause)
    })
    if (bytes.subarray(0, 5).toString('latin1') !== '%PDF-')
      throw notPrinted(browser, 'what it wrote is no PDF')
    return bytes
  } finally {
    // A part of the browser may still write while it ends.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

async function temporaryFolder(parent: string): Promise<string> {
  try {
    // A browser that never ran has no folder yet.
    await mkdir(parent, { recursive: true })
    return await mkdtemp(join(parent, 'rankline-pdf-'))
  } catch (cause) {
    throw new UsageError(
      `The folder ${parent} cannot be written, where the page is laid for the browser. Name another in TMPDIR`,
      { cause },
    )
  }
}

/** Chromium binds a socket in its own temporary folder, and names of sockets are short. */
const mostLetters = 60

/** What a killed browser leaves in its temporary folder goes away with ours. */
function environmentIn(
  folder: string,
  { environment, platform }: BrowserPlaces,
): BrowserPlaces['environment'] {
  return platform === 'linux' && folder.length <= mostLetters
    ? { ...environment, TMPDIR: folder }
    : environment
}

const printArguments = [
  '--headless',
  '--no-pdf-header-footer',
  '--generate-pdf-document-outline',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-gpu',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Containers often have little of it.
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP * ~NOTFOUND',
]

/** A Chromium of snap sees no temporary files of others, only its own folder. */
function folderFor(browser: string, { home }: BrowserPlaces): string {
  return browser.startsWith('/snap/') ? join(home, 'snap/chromium/common') : tmpdir()
}

/** Waits until the browser ends, and returns what it said. It is killed when time is up, or on a signal to this process. */
async function runBrowser(
  browser: string,
  args: readonly string[],
  env: BrowserPlaces['environment'],
): Promise<string> {
  let said = ''
  const ended: RanklineError[] = []
  // A group of its own, so that all its processes can be ended.
  const detached = process.platform !== 'win32'
  const child = spawn(browser, args, { stdio: ['ignore', 'ignore', 'pipe'], detached, env })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-20_000)
  })
  const end = (why: RanklineError): void => {
    ended.push(why)
    kill(child, detached)
  }
  const onSignal = (signal: NodeJS.Signals): void =>
    end(new RanklineError('Stopped while printing', signalCodes[signal as keyof typeof signalCodes]))
  const timer = setTimeout(
    () => end(notPrinted(browser, `not done after ${printTimeoutMs / 1000} s`)),
    printTimeoutMs,
  )
  for (const signal of Object.keys(signalCodes)) process.on(signal, onSignal)
  try {
    const [code] = await once(child, 'close').catch((cause) => {
      throw notPrinted(browser, cause.message, cause)
    })
    if (ended[0] !== undefined) throw ended[0]
    if (code !== 0) throw notPrinted(browser, said)
    return said
  } finally {
    clearTimeout(timer)
    for (const signal of Object.keys(signalCodes)) process.off(signal, onSignal)
  }
}

function kill(child: ChildProcess, isGroup: boolean): void {
  const { pid } = child
  try {
    if (isGroup && pid !== undefined) process.kill(-pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It has ended already.
  }
}

function notPrinted(browser: string, said: string, cause?: unknown): UsageError {
  const last = sanitizeLine(said.trim().split('\n').at(-1) ?? '')
  return new UsageError(
    `${browser} did not print the report${last === '' ? '' : ` (${last})`}. Name another browser in CHROME_PATH, or write --format html and print that page`,
    { cause },
  )
}
