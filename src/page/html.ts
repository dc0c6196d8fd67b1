import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createDeflate } from 'node:zlib'
import type { Language } from '../model/settings.ts'
import { groupedBy } from '../model/text.ts'
import { escaped } from '../output/markup.ts'
import { reportPageContent } from '../report/build-data.ts'
import type { PageContent, PageSerp } from '../report/data.ts'
import { baselineOrder } from '../report/history/keyword-status.ts'
import type { ComparisonDay } from '../report/history/movement.ts'
import type { Presentation } from '../report/presentation/presentation.ts'
import type { Paper, ReportFormat } from '../report/report.ts'
import { toldOfWhole, toldStories } from '../report/story/told.ts'
import { wordsOf } from '../report/words/words.ts'
import { addressesOf, type PackedPage, packed, pageScriptId, unpackedSerp } from './packed.ts'

/** The HTML report, with the results of every day that it offers to compare with. */
export const pageFormat: ReportFormat = {
  chunks: (source) => page(reportPageContent(source)),
  document: true,
  commented: true,
  measured: true,
  serps: true,
  tabs: true,
}

async function* page(data: PageContent): AsyncGenerator<string> {
  yield* reportPage(data, await reportAssets(data.presentation.language))
}

/** Made of `client/` by `npm run build`. */
export type PageAssets = Awaited<ReturnType<typeof portfolioAssets>>

/**
 * The report as one HTML file. It opens offline, loads nothing, and runs only its own script, whatever a search result has in
 * its title. The same data and assets give the same text.
 */
export async function* reportPage(
  data: PageContent,
  assets: Awaited<ReturnType<typeof reportAssets>>,
): AsyncGenerator<string> {
  const { presentation } = data
  const { head, script } = assets
  const style = styleOf(data, assets)
  const say = wordsOf(presentation.language)
  const content = packed(data)
  // Deflated while the page is told and drawn.
  const deflate = deflating(fieldPieces(content, '{'))
  const { told, screen } = await opening(data, content, script)
  yield `${documentStart({ language: presentation.language, title: titleOf(data), scripts: [head, script], style })}
<script>${head}</script>
</head>
<body>
<noscript><p>${say.unscripted.needsScript}</p></noscript>
<div id="report">${screen}</div>
<script id="page-data" type="text/plain">`
  deflate.end([...fieldPieces({ told }, ','), '}'].join(''))
  yield* inBase64(deflate)
  yield `</script>
<script id="${pageScriptId}" type="text/plain">`
  yield* inBase64(deflating([script]).end())
  yield `</script>
</body>
</html>
`
}

/** What is told of the page, and what it shows first. */
async function opening(data: PageContent, content: Omit<PackedPage, 'told'>, script: string) {
  const serpsOf = (days: readonly string[], compare: ComparisonDay | null) =>
    comparedSerps(content, days, compare)
  const shown = { ...data, serps: serpsOf(data.history.days, data.compare) }
  const told = toldStories(shown, serpsOf)
  // Loaded here: no other form of a report draws anything.
  const { firstScreen } = await import('./page-window.ts')
  return { told, screen: await firstScreen({ ...shown, told, addresses: content.addresses }, script) }
}

/** The results that a comparison looks at: those of each keyword on the last day, and on the compared one. */
function comparedSerps(
  { serps, results }: Pick<PackedPage, 'serps' | 'results'>,
  days: readonly string[],
  compare: ComparisonDay | null,
): readonly PageSerp[] {
  const order = baselineOrder(days, compare)
  const kept = [...groupedBy(serps, ([keyword]) => keyword).values()].flatMap((own) => {
    const known = own.filter(([, , depth]) => depth !== 0)
    const before = order.find((one) => known.some(([, day]) => day === one))
    return known.filter(([, day]) => day === days.length - 1 || day === before)
  })
  return kept.map((serp) => unpackedSerp(serp, results))
}

/**
 * The report as one HTML file for a printer: what the page shows on paper as it opens, drawn already. It has no script, and
 * nothing can be loaded.
 */
export async function paperPage(data: PageContent, assets: PageAssets, size: Paper): Promise<string> {
  const { drawnPage, paper, serialised } = await import('./page-window.ts')
  const whole = { ...data, serps: [...data.serps] }
  const { root, print } = await drawnPage(
    { ...whole, told: { '': toldOfWhole(whole) }, addresses: addressesOf(whole) },
    assets.script,
  )
  print()
  // The style of the root holds what depends on data: the accent of the agency, the running head.
  return `<!doctype html>
<html lang="${data.presentation.language}" style="${escaped(root.getAttribute('style') ?? '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${paperPolicy}">
<title>${escaped(titleOf(data))}</title>
<style>${styleOf(data, assets)}@page{size:${paperSizes[size]}}</style>
</head>
${serialised(root.querySelector('body'), paper)}
</html>
`
}

const paperSizes: Readonly<Record<Paper, string>> = { a4: 'A4', letter: 'letter' }

const paperPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

/** The title of the file: that of the report, and for whom it is. */
function titleOf({ presentation: { title, client, language }, history }: PageContent): string {
  const name = [title ?? history.job, client].filter((one) => one !== null).join(' · ')
  return wordsOf(language).unscripted.title(name)
}

/** The style of every page, and what is the agency's own in it. */
function styleOf({ presentation }: PageContent, { style }: PageAssets): string {
  return `${style}${accentRule(presentation)}`
}

/** The colours of the agency, which `style/base.css` uses where they are set. */
function accentRule({ accent }: Presentation): string {
  return accent === null ? '' : `:root{--brand-light:${accent.light};--brand-dark:${accent.dark}}`
}

/** How every page begins. Its style and its scripts are ours, and stand as they are. */
export function documentStart(start: {
  readonly language: string
  readonly title: string
  /** Of the page, and no others. */
  readonly scripts: readonly string[]
  readonly style: string
}): string {
  return `<!doctype html>
<html lang="${start.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(start)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(start.title)}</title>
<style>${start.style}</style>`
}

/** Allows the scripts and the style of the page only; nothing is fetched, sent or framed. */
function policy({ scripts, style }: Pick<Parameters<typeof documentStart>[0], 'scripts' | 'style'>): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map((script) => `'${hashOf(script)}'`).join(' ')}`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** Deflates a text in another thread while this one goes on, in one step: between two steps it would wait for this one. More can be added. */
function deflating(pieces: Iterable<string>) {
  const text = Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece)))
  // They shrink to less than a fourth.
  const deflate = createDeflate({ level: 5, chunkSize: 1_024 + Math.ceil(text.length / 4) })
  deflate.write(text)
  return deflate
}

/** In base64 nothing of what was deflated ends the element. */
async function* inBase64(deflated: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of deflated) {
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield rest.toString('base64')
}

/** Entries of a list in one piece. */
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
    yield* fieldPieces(value)
    yield '}'
  } else yield JSON.stringify(value)
}

/** The fields of an object without its brackets. */
function* fieldPieces(value: object, before = ''): Generator<string> {
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* jsonPieces(field)
    before = ','
  }
}

/**
 * The script and the style of the report, which the build puts next to the program. The script has the words of one language.
 *
 * @param folder by default the folder of the program
 */
export async function reportAssets(language: Language, folder?: URL) {
  const [head, script, style] = await assetsOf(
    ['report-head.js', `report-page.${language}.js`, 'report-page.css'],
    folder,
  )
  // `head` runs first, and has `script` run when what stands in the file is seen.
  return { head, script, style }
}

export async function portfolioAssets(folder?: URL) {
  const [script, style] = await assetsOf(['portfolio-page.js', 'portfolio-page.css'], folder)
  return { script, style }
}

async function assetsOf<T extends readonly string[]>(
  files: readonly [...T],
  folder = new URL('.', import.meta.url),
): Promise<{ [place in keyof T]: string }> {
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
  return texts as { [place in keyof T]: string }
}
