import { createHash } from 'node:crypto'
import type { PageData } from '../page-data.ts'
import { jsonPieces } from './json-pieces.ts'

/** What `npm run build` makes of `client/`. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/**
 * The report as one HTML file: opens offline, asks nobody for anything, and runs no script but its own, whatever a
 * search result has written into its title. The same data and assets give the same text.
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
<noscript><p>This report draws itself in the browser. Allow its script to run; it asks for nothing from the network.</p></noscript>
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

/** No `<` begins an element, and nothing ends a line for readers that take JSON for a script. */
function escapedJson(text: string): string {
  return text.replace(/[<\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
