import type { Database } from 'better-sqlite3'
import { kindCodes, type ObservationState } from '../../../model/result.ts'
import { volumeFinder } from '../clicks/volumes.ts'
import { once, raw } from '../connection/statements.ts'
import {
  answers,
  items,
  links,
  observations,
  queries,
  runQueries,
  runTargets,
  unusableMark,
} from '../schema.ts'
import { asks } from '../views.ts'

/** Web results that count as the first page of a keyword. */
export const firstResults = 10

/** A keyword with the pages that its newest answer shows first, and what is known of its targets. */
export interface KeywordSerp {
  readonly queryId: number
  readonly text: string
  readonly operation: string
  /** A JSON object. */
  readonly params: string
  /** Searches a month, as the job says. */
  readonly volume: number | null
  readonly tags: readonly string[]
  /** When its newest answer came; epoch milliseconds. Null where none is stored. */
  readonly fetchedAt: number | null
  /** Numbers of the pages among its first ten web results, the best first, each once. */
  readonly links: readonly number[]
  /** The run that says most of it. */
  readonly runId: number
  /** What the newest run says of each target. */
  readonly targets: readonly {
    readonly label: string
    readonly own: 0 | 1
    readonly state: ObservationState
    readonly rank: number | null
    readonly url: string | null
  }[]
}

interface KeywordRow
  extends Pick<KeywordSerp, 'queryId' | 'text' | 'operation' | 'params' | 'volume' | 'fetchedAt' | 'runId'> {
  readonly tags: string
  readonly answerId: number | null
  readonly answerRun: number | null
}

/** What is said of the newest answer to the first page of a query: one that was read, still has its results and repeats the question. */
const newestAnswer = raw`SELECT a.${answers.id} FROM ${answers} a
  WHERE a.${answers.queryId} = q.${queries.id} AND a.${answers.page} = 1 AND a.${answers.fetchedAt} <= @latest
    AND a.${answers.normaliser} <> ${unusableMark} AND a.${answers.prunedAt} IS NULL AND a.${answers.echoMismatch} IS NULL
  ORDER BY a.${answers.fetchedAt} DESC, a.${answers.id} DESC LIMIT 1`

const keywordsOfRun = raw`
  SELECT q.${queries.id} AS queryId, q.${queries.text} AS text, q.${queries.operation} AS operation, q.${queries.params} AS params,
    rq.${runQueries.volume} AS volume, rq.${runQueries.tags} AS tags, asked.run_id AS runId,
    a.${answers.id} AS answerId, a.${answers.fetchedAt} AS fetchedAt, a.${answers.runId} AS answerRun
  FROM ${asks.queries} asked
    JOIN ${runQueries} rq ON rq.${runQueries.runId} = asked.run_id AND rq.${runQueries.queryId} = asked.query_id
    JOIN ${queries} q ON q.${queries.id} = asked.query_id
    LEFT JOIN ${answers} a ON a.${answers.id} = (${newestAnswer})`

/** The pages that the web results of an answer lead to. Links of one page share a number. */
const linksOfAnswer = raw`SELECT coalesce(l.${links.sameAs}, l.${links.id})
  FROM ${answers} a JOIN json_each(a.${answers.items}, '$.${kindCodes.organic}') n
    JOIN ${items} i ON i.${items.id} = n.value JOIN ${links} l ON l.${links.id} = i.${items.linkId}
  WHERE a.${answers.id} = ? ORDER BY n.key`

const furtherAnswer = raw`SELECT a.${answers.id} FROM ${answers} a
  WHERE a.${answers.queryId} = ? AND a.${answers.page} = ? AND a.${answers.runId} = ? AND a.${answers.prunedAt} IS NULL
    AND a.${answers.echoMismatch} IS NULL ORDER BY a.${answers.id} DESC LIMIT 1`

const targetsSeen = raw`SELECT rt.${runTargets.label} AS label, rt.${runTargets.own} AS own, o.${observations.state} AS state,
    o.${observations.rank} AS rank, l.${links.link} AS url
  FROM ${observations} o
    JOIN ${runTargets} rt ON rt.${runTargets.runId} = o.${observations.runId} AND rt.${runTargets.targetId} = o.${observations.targetId}
    LEFT JOIN ${links} l ON l.${links.id} = o.${observations.linkId}
  WHERE o.${observations.runId} = ? AND o.${observations.queryId} = ? ORDER BY rt.${runTargets.own} DESC, o.${observations.targetId}`

export function keywordReader(db: Database) {
  const keywords = once(() => db.prepare<[{ run: number; latest: number }], KeywordRow>(keywordsOfRun))
  const linksOf = once(() => db.prepare<[number], number>(linksOfAnswer).pluck())
  const further = once(() => db.prepare<[number, number, number], number>(furtherAnswer).pluck())
  const seen = once(() => db.prepare<[number, number], KeywordSerp['targets'][number]>(targetsSeen))
  /** Short pages are filled up from those after them. */
  const firstLinks = ({ queryId, answerId, answerRun }: KeywordRow): readonly number[] => {
    const found = new Set<number>()
    let answer: number | null | undefined = answerId
    for (let page = 2; answer != null; page++) {
      const before = found.size
      for (const link of linksOf().all(answer)) if (found.size < firstResults) found.add(link)
      if (found.size === firstResults || found.size === before) break
      answer = further().get(queryId, page, answerRun as number)
    }
    return [...found]
  }

  function* keywordPages(run: number, latest: number): Iterable<Omit<KeywordSerp, 'targets'>> {
    const { volumeOf } = volumeFinder(db)
    for (const row of keywords().all({ run, latest }))
      yield {
        queryId: row.queryId,
        text: row.text,
        operation: row.operation,
        params: row.params,
        volume: volumeOf(row.volume, row.text, JSON.parse(row.params)),
        fetchedAt: row.fetchedAt,
        tags: JSON.parse(row.tags) as readonly string[],
        links: firstLinks(row),
        runId: row.runId,
      }
  }

  return {
    /** The address of each of these pages, by their numbers. */
    *linksOfPages(pages: Iterable<number>): Iterable<readonly [page: number, link: string]> {
      const link = db
        .prepare<[number], string>(raw`SELECT ${links.link} FROM ${links} WHERE ${links.id} = ?`)
        .pluck()
      for (const page of pages) yield [page, link.get(page) as string]
    },
    /**
     * What a run asks, and what rests meanwhile, each with its newest answer from whatever run.
     *
     * @param latest answers of a later instant were stored by a wrong clock
     */
    keywordPages,
    /** The same with what the newest run says of each target. */
    *keywordSerps(run: number, latest: number): Iterable<KeywordSerp> {
      for (const keyword of keywordPages(run, latest))
        yield { ...keyword, targets: seen().all(keyword.runId, keyword.queryId) }
    },
  }
}
