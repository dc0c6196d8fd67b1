import { type Part, partOf } from '../history/filter-history.ts'
import type { Keyword } from '../history/rank-history.ts'
import type { ReportSource } from '../report.ts'
import type { RankReport } from '../rows.ts'
import { type Words, wordsOf } from '../words/words.ts'

/**
 * A report as a client is shown it: without numbers of runs, and with the kinds of results in place of operations. Engines are
 * told apart by letters where there are several. Keywords keep their places and their figures.
 */
export function sourceForClient(source: ReportSource): ReportSource {
  const { ranked, presentation } = source
  if (ranked.built === null) return source
  const { history } = ranked.built
  const names = clientNames(history.keywords, wordsOf(presentation.language))
  const nameOf = (operation: string): string => names.get(operation) ?? ''
  const operations = new Map([...names].map(([operation, name]) => [name, operation]))
  const renamed = new Map(
    history.keywords.map((keyword) => [keyword, { ...keyword, operation: nameOf(keyword.operation) }]),
  )
  const built = {
    ...ranked.built,
    history: {
      ...history,
      keywords: [...renamed.values()],
      removed: history.removed.map((one) => ({ ...one, operation: nameOf(one.operation) })),
      ...(history.suspect === undefined
        ? {}
        : { suspect: { ...history.suspect, audience: 'client' as const } }),
    },
  }
  return {
    ...source,
    ranked: { ...ranked, built, report: () => reportForClient(ranked.report(), nameOf, renamed) },
    featuresOf: (name) => source.featuresOf(operations.get(name) ?? name),
  }
}

function reportForClient(
  report: RankReport,
  nameOf: (operation: string) => string,
  renamed: ReadonlyMap<Keyword, Keyword>,
): RankReport {
  return {
    ...report,
    rows: report.rows.map((row) => ({ ...row, operation: nameOf(String(row.operation)), run_id: null })),
    statuses: report.statuses.map((status) => ({
      ...status,
      keyword: renamed.get(status.keyword) ?? status.keyword,
    })),
  }
}

/** A name for each operation, no two alike; `partOf` reads the names of one part as one engine. */
function clientNames(keywords: readonly Keyword[], say: Words): ReadonlyMap<string, string> {
  const engines = [...new Set(keywords.map((one) => partOf(one).engine))].sort()
  const partName = ({ kind, engine }: Part): string =>
    engines.length < 2
      ? say.kinds[kind]
      : say.unscripted.engineOfKind(say.kinds[kind], String.fromCodePoint(0x41 + engines.indexOf(engine)))
  const names = new Map<string, string>()
  const taken = new Map<string, number>()
  for (const keyword of keywords) {
    if (names.has(keyword.operation)) continue
    const name = partName(partOf(keyword))
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    names.set(keyword.operation, count === 1 ? name : `${name}.${count}`)
  }
  return names
}
