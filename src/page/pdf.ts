import { findBrowser, printPdf } from '../output/browser.ts'
import { reportPageContent } from '../report/build-data.ts'
import type { PageContent } from '../report/data.ts'
import type { PrintSettings, ReportFormat } from '../report/report.ts'
import { reportAssets } from './html.ts'
import { paperPage } from './paper.ts'

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
