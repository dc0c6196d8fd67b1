import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { comparisonDay, offeredBack } from '../history/movement.ts'
import { builtHistory, type ReportFormat } from '../report.ts'
import { reportPageData } from './build-data.ts'
import type { PageData } from './data.ts'

/** The report as a page, with the results of every day that a reader may compare with. */
export const pageFormat: ReportFormat = {
  chunks: (source) => {
    const { days } = builtHistory(source).history
    const offered = offeredBack.flatMap((back) => comparisonDay(back, days) ?? [])
    return page(reportPageData(source, { offered, serpDays: source.serpDays }))
  },
  measured: true,
  serps: true,
}

async function* page(data: PageData): AsyncGenerator<string> {
  yield* reportPage(data, await pageAssets())
}

/** What `npm run build` makes of `client/`. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/**
 * The report as one HTML file: it opens offline, loads nothing, and runs only its own script, whatever a search result
 * has in its title. The same data and assets give the same text.
 */
export async function* reportPage(data: PageData, { script, style }: PageAssets): AsyncGenerator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy({ script, style })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(data.history.job)} · rank report</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This report needs JavaScript. Allow its script to run; it loads nothing from the network.</p></noscript>
<div id="report"></div>
<script id="page-data" type="application/json">`
  for (const piece of jsonPieces(data)) yield escapedJson(piece)
  yield `</script>
<script type="module">${script}</script>
</body>
</html>
`
}

/** Only the script and the style that the page was made with; nothing is fetched, sent or framed. */
function policy({ script, style }: PageAssets): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** JSON in which no `<` begins an element, and no sign ends a line for readers that take it for a script. */
function escapedJson(text: string): string {
  return text.replace(/[<\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Entries of a list that go into one piece. */
const batch = 256

/** The JSON of a value, in pieces: long lists are never one string. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield '['
    for (let start = 0; start < value.length; start += batch) {
      const part = JSON.stringify(value.slice(start, start + batch))
      yield `${start === 0 ? '' : ','}${part.slice(1, -1)}`
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null) {
    yield '{'
    let first = true
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${first ? '' : ','}${JSON.stringify(key)}:`
      yield* jsonPieces(field)
      first = false
    }
    yield '}'
  } else yield JSON.stringify(value)
}

/**
 * Script and style of the report as a page, which the build puts beside the program.
 *
 * @param folder the one of the program, unless another is named
 */
export async function pageAssets(folder = new URL('.', import.meta.url)): Promise<PageAssets> {
  const read = (name: string) => readFile(new URL(name, folder), 'utf8')
  return { script: await read('report-page.js'), style: await read('report-page.css') }
}
