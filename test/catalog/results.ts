import type { AnswerFacts, Result, ResultKind } from '../../src/model/result.ts'

/** A result of which only the named fields were sent. */
export function aResult(kind: ResultKind, sent: Partial<Result> = {}): Result {
  return {
    kind,
    position: null,
    title: null,
    link: null,
    source: null,
    snippet: null,
    displayedLink: null,
    snippetMatched: null,
    news: null,
    video: null,
    image: null,
    ...sent,
  }
}

/** Facts of an answer that says only what is named. */
export function facts(said: Partial<AnswerFacts> = {}): AnswerFacts {
  return {
    totalResults: null,
    timeTaken: null,
    notice: null,
    hasNextPage: null,
    nextPage: null,
    currentPage: null,
    searchParameters: null,
    knowledgeGraph: null,
    aiMarkdown: null,
    aiBlocks: null,
    ...said,
  }
}
