import { billableOperation } from '../../src/catalog/index.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'

/** Answers are made ahead, so that the time is the client's. */
const variety = 500
/** Each answer comes in as many orders: one list for ten queries would be suspect. */
const orders = 10
/** Stands in them where the number of the call is to be written. */
const mark = '########'
/** Stands in them where the query is repeated: another one than asked would be noted with each call. */
const echoed = '@@@@@@@@'

interface Answer {
  /** Before and after the query that it repeats. */
  readonly before: Buffer
  readonly after: Buffer
}

/**
 * Answers to web searches, as quick as Node can make them: ten results, about 8 KB.
 *
 * @param isNew whether no title, link or snippet is ever to come twice
 */
export function quickAnswers(isNew: boolean): (url: string) => Buffer {
  const answersOfPage = new Map<number, readonly Answer[]>()
  let calls = 0
  return (url) => {
    const { searchParams } = new URL(url, 'http://localhost')
    const page = Number(searchParams.get('page') ?? 1)
    const answers = answersOfPage.get(page) ?? madeAnswers(page, isNew)
    answersOfPage.set(page, answers)
    const { before, after } = answers[calls++ % answers.length] as Answer
    const query = Buffer.from(JSON.stringify(searchParams.get('query')).slice(1, -1))
    const body = Buffer.concat([before, query, after])
    if (isNew) {
      const number = Buffer.from(String(calls).padStart(mark.length, '0'))
      for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length))
        number.copy(body, at)
    }
    return body
  }
}

function madeAnswers(page: number, isNew: boolean): readonly Answer[] {
  const world = createWorld('throughput', ['acme.example'])
  const asked = { style: 'get', params: { gl: 'us', hl: 'en' }, page, isAsync: false } as const
  return Array.from({ length: isNew ? variety : variety * orders }, (_, number) => {
    const answer = world(
      billableOperation('alpha.search'),
      { ...asked, query: `query ${number % variety}` },
      { now: Date.UTC(2026, 0, 1), pages: 'even', positions: 'restart' },
    ) as {
      organic_results: { title: string; link: string; snippet: string }[]
      related_searches?: unknown
      search_parameters: { q: string }
    }
    const results = answer.organic_results
    const first = Math.floor(number / variety)
    answer.organic_results = [...results.slice(first), ...results.slice(0, first)].map((one, index) => ({
      ...one,
      position: index + 1,
    }))
    // Ten results, as the other contenders store them, and nothing besides.
    delete answer.related_searches
    const text = JSON.stringify(answer)
    const missing = Math.max(0, 8_000 - text.length) / answer.organic_results.length
    for (const result of answer.organic_results)
      result.snippet += ` ${'and so on '.repeat(missing / 10)}`.trimEnd()
    if (isNew)
      for (const result of answer.organic_results) {
        result.title += ` ${mark}`
        result.link += `?${mark}`
        result.snippet += ` ${mark}`
      }
    answer.search_parameters.q = echoed
    const [before = '', after = ''] = JSON.stringify(answer).split(echoed)
    return { before: Buffer.from(before), after: Buffer.from(after) }
  })
}
