import { findBrowser, printPdf } from '../output/browser.ts'
import { escaped } from '../output/markup.ts'
import { reportPageContent } from '../report/build-data.ts'
import type { PageContent } from '../report/data.ts'
import type { Paper, PrintSettings, ReportFormat } from '../report/report.ts'
import { jsonPieces, type PageAssets, reportAssets, styleOf, titleOf } from './html.ts'
import { packed } from './packed.ts'
import { drawnPage } from './page-window.ts'
import { paper as paperMedium, serialised } from './serialise.ts'

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

async function* printed(data: PageContent, { browsers, paper }: PrintSettings): AsyncGenerator<Uint8Array> {
  yield await printPdf(await paperPage(data, await reportAssets(data.presentation.language), paper), browsers)
}

/**
 * The report as one HTML file for a printer: what the page shows on paper as it opens, drawn already. It has no script, and
 * nothing can be loaded.
 */
export async function paperPage(data: PageContent, assets: PageAssets, paper: Paper): Promise<string> {
  const { root, print } = await drawnPage([...jsonPieces(packed(data))].join(''), assets.script)
  print()
  // The style of the root holds what depends on data: the accent of the agency, the running head.
  return `<!doctype html>
<html lang="${data.presentation.language}" style="${escaped(root.getAttribute('style') ?? '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(titleOf(data))}</title>
<style>${styleOf(data, assets)}@page{size:${sizes[paper]}}</style>
</head>
${serialised(root.querySelector('body'), paperMedium)}
</html>
`
}

const sizes: Readonly<Record<Paper, string>> = { a4: 'A4', letter: 'letter' }

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
