import type { Page, PageState } from '../../src/rank/paging.ts'

/** Links of results by one letter; a space is a result without a link; `$` at the end says that no page follows. */
export function donePage(page: number, text: string): Page {
  const letters = text.replace('$', '')
  const items = [...letters].map((letter) =>
    letter === ' '
      ? { sameAs: null, link: null }
      : { sameAs: letter.codePointAt(0) as number, link: `https://${letter}.example/` },
  )
  return { page, state: 'done', items, ...(letters === text ? {} : { isLast: true }) }
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
