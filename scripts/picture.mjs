/** Takes the picture of the README: the first screen of the report that the demo writes. To be started with `npm run picture`. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import puppeteer from 'puppeteer-core'

const checkout = fileURLToPath(new URL('..', import.meta.url))
const picture = join(checkout, 'docs/first-screen.png')
const folder = mkdtempSync(join(tmpdir(), 'rankline-picture-'))
const program = join(checkout, 'dist/cli.js')
try {
  // The world of the sandbox has one seed: on the same day the demo finds the same.
  execFileSync(process.execPath, [program, 'demo', '--db', join(folder, 'demo.db')], { cwd: folder })
  await takePicture(join(folder, 'demo-report.html'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(`${picture}, ${Math.round(statSync(picture).size / 1000)} kB\n`)

async function takePicture(report) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    const page = await browser.newPage()
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    await page.setViewport({ width: 1280, height: 900 })
    await page.goto(pathToFileURL(report).href)
    await page.waitForSelector('main[data-whole]')
    await page.waitForSelector('.chart path')
    await page.screenshot({ path: picture })
  } finally {
    await browser.close()
  }
}
