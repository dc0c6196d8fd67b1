import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { UsageError } from '../../model/errors.ts'

/** Where a browser may be, as the environment says. */
export interface BrowserPlaces {
  /** What `CHROME_PATH` names; null if it is not set. */
  readonly named: string | null
  readonly platform: NodeJS.Platform
  /** Folders of programs that are started by their name. */
  readonly path: readonly string[]
  /** Folders in which Windows installs programs. */
  readonly programs: readonly string[]
  readonly home: string
  /** The environment that a browser is started with. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const linuxNames = [
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
