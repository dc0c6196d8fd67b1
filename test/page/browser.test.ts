import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserCandidates, findBrowser, printPdf } from '../../src/page/paper.ts'
import type { BrowserPlaces } from '../../src/report/report.ts'
import { testTable } from '../support/test-table.ts'

const nowhere: BrowserPlaces = {
  ...{ named: null, platform: 'linux', path: [], programs: [], home: '/home/ann' },
  environment: {},
}

describe('a browser is looked for', () => {
  testTable<[NodeJS.Platform, string]>([
    ['linux', '/usr/bin/google-chrome'],
    ['linux', '/usr/bin/chromium'],
    ['linux', '/usr/bin/chromium-headless-shell'],
    ['linux', '/usr/local/bin/microsoft-edge'],
    ['linux', '/snap/bin/chromium'],
    ['darwin', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
    ['darwin', '/home/ann/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'],
    ['darwin', '/usr/local/bin/chromium'],
    ['win32', 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
    ['win32', 'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe'],
    ['win32', 'D:\\tools\\chrome.exe'],
  ])('on %s: %s', (platform, file) => {
    const path = platform === 'win32' ? ['D:\\tools'] : ['/usr/bin', '/usr/local/bin']
    const places = { ...nowhere, platform, path, programs: ['C:\\Program Files'] }
    expect(browserCandidates(places)).toContain(file)
  })

  test('on linux, one without windows comes first', () => {
    const places = { ...nowhere, path: ['/usr/bin', '/usr/local/bin'] }
    expect(browserCandidates(places)[0]).toBe('/usr/bin/chromium-headless-shell')
  })

  test('and where there is none, the error says what to do', () => {
    expect(() => findBrowser({ ...nowhere, platform: 'darwin', home: '/nowhere' })).toThrow(
      /none is installed\. Install one, name its program file in CHROME_PATH, or write --format html/,
    )
    expect(() => findBrowser({ ...nowhere, named: '/nowhere/chrome' })).toThrow(
      'CHROME_PATH names /nowhere/chrome, which does not exist',
    )
  })
})

describe.skipIf(process.platform === 'win32')('a browser', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rankline-browsers-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** A program in place of a browser; its temporary files lie in the folder, too. */
  async function standIn(script: string): Promise<BrowserPlaces> {
    const named = join(folder, 'browser')
    await writeFile(named, `#!/bin/sh\n${script}\n`)
    await chmod(named, 0o755)
    return { ...nowhere, named, environment: { PATH: process.env.PATH } }
  }

  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own.
  const findPdf = 'for flag; do case $flag in --print-to-pdf=*) pdf=${flag#*=} ;; esac; done'

  test('is started once, with flags that print a file, and what it prints is returned', async () => {
    const places = await standIn(
      `${findPdf}; echo "$@" > ${folder}/flags; (printf %%PDF-; cat "\${pdf%/*}/page.html") > "$pdf"`,
    )
    expect(Buffer.from(await printPdf('<p>ä</p>', places)).toString()).toBe('%PDF-<p>ä</p>')
    const flags = await readFile(join(folder, 'flags'), 'utf8')
    expect(flags).toMatch(
      /^--headless .*--no-pdf-header-footer .*--user-data-dir=\S+ --print-to-pdf=\S+ file:/,
    )
    expect(flags.includes('--no-sandbox')).toBe(process.getuid?.() === 0)
    const isLeft = (name: string) => name.startsWith('rankline-pdf-') && flags.includes(name)
    expect((await readdir(tmpdir())).filter(isLeft)).toEqual([])
  })

  testTable([
    [
      'fails',
      'echo something >&2; echo no sandbox >&2; exit 3',
      'did not print the report (no sandbox). Name another',
    ],
    ['prints nothing', 'exit 0', 'did not print the report. Name another'],
    ['prints something else', `${findPdf}; echo hello > "$pdf"`, '(what it wrote is no PDF)'],
  ])('that %s is an error that says what to do', async (_, script, words) => {
    await expect(printPdf('', await standIn(script))).rejects.toThrow(words)
  })

  test('that cannot be started is an error, too', async () => {
    const named = join(folder, 'text')
    await writeFile(named, 'no program')
    await expect(printPdf('', { ...nowhere, named })).rejects.toThrow(
      /text did not print the report \(.*EACCES/,
    )
  })
})
