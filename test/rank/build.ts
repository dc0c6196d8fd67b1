import type { Page, PageState } from '../../src/rank/pages.ts'

/** Links of results by one letter; a space is a result without a link. */
export function donePage(page: number, letters: string): Page {
  const items = [...letters].map((letter) =>
    letter === ' '
      ? { sameAs: null, link: null }
      : { sameAs: letter.codePointAt(0) as number, link: `https://${letter}.example/` },
  )
  return { page, state: 'done', items }
}

/**
 * Pages of a query from 1 on: letters are the results of an answered page, `!failed` and the like one that was not
 * answered.
 */
export function pagesOf(...pages: readonly string[]): readonly Page[] {
  return pages.map((text, index) =>
    text.startsWith('!')
      ? { page: index + 1, state: text.slice(1) as PageState, items: [] }
      : donePage(index + 1, text),
  )
}
