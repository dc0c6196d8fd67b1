import type { KeywordStatus } from '../../../history/keyword-status.ts'
import { bestRank } from '../../../metrics/best-rank.ts'
import { button, type Child, html, linkTo } from '../dom.ts'
import { mediumDay, number } from '../format.ts'
import { say } from '../language.ts'
import { askedText, rankMark, statusChange } from '../text.ts'
import type { View } from '../view.ts'
import { featuresOverTime } from './features.ts'
import { historyChart } from './history-chart.ts'
import { firstTen } from './top-ten.ts'
import { urlHistory } from './url-history.ts'

/** The details of one keyword: figures, history, pages and the first ten results. */
function keywordDetail(view: View, status: KeywordStatus): HTMLElement {
  const words = say.keyword
  const { keyword, series } = status
  const rivals = view.allTargets().filter((one) => one.series.keyword === series.keyword)
  const labels = Object.entries(keyword.labels).map(([name, value]) => `${name}: ${value}`)
  const tags = [...keyword.tags, ...labels].map((one) => html('bdi', 'tag', one))
  return html(
    'div',
    'detail',
    html('p', 'asked', html('span', 'code', askedText(keyword, view.data.presentation.audience)), ...tags),
    facts(view, status),
    html('h3', '', words.history),
    historyChart(view, status, rivals),
    html('h3', '', words.pages),
    urlHistory(view, status),
    ...featuresOverTime(view, status),
    html('h3', '', say.serps.firstTen),
    firstTen(view, status),
  )
}

function facts({ history, target }: View, status: KeywordStatus): HTMLElement {
  const { current, baseline, series, keyword } = status
  const { days } = history
  const best = bestRank(series.cells)
  const first = series.cells.findIndex((cell) => cell !== null)
  const dayText = (day: number): string => mediumDay(days[day] as string)
  const words = say.keyword
  const since =
    baseline === null
      ? [words.nothingBefore]
      : [words.since(dayText(baseline.day)), html('span', '', words.from, rankMark(baseline.value))]
  return html(
    'dl',
    'facts',
    fact(target.label, rankMark(current), days.length === 0 ? '' : dayText(days.length - 1)),
    fact(words.change, statusChange(status), ...since),
    best === null
      ? fact(words.best, '–', words.neverRanked)
      : fact(words.best, number(best.rank), dayText(best.day)),
    keyword.volume === null ? null : fact(words.volume, number(keyword.volume), words.searches),
    fact(words.firstChecked, html('span', 'small', first === -1 ? '–' : dayText(first))),
    keyword.url === null
      ? null
      : html('div', 'long', html('dt', '', words.targetPage), html('dd', 'small', linkTo(keyword.url))),
  )
}

function fact(term: string, value: Child, ...notes: readonly (Node | string)[]): HTMLElement {
  return html(
    'div',
    '',
    html('dt', '', html('bdi', '', term)),
    html('dd', '', value),
    ...notes.filter((one) => one !== '').map((one) => html('dd', 'about', one)),
  )
}

/**
 * The dialog with the details of one keyword. When it closes, the focus returns to where it was.
 *
 * @param shown is told the place of the keyword that is shown, and null when the dialog closes
 */
export function keywordDialog(shown: (keyword: number | null) => void) {
  const title = html('h2', { id: 'dialog-title', tabindex: -1 })
  const place = html('p', 'place')
  const body = html('div', 'dialog-body')
  const dialog = html('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' })
  const before = icon(say.keyword.previous, '↑', () => show(index - 1))
  const after = icon(say.keyword.next, '↓', () => show(index + 1))
  const close = icon(say.keyword.close, '✕', () => dialog.close())
  const tools = html('div', 'dialog-tools', place, before, after, close)
  dialog.append(html('header', 'dialog-head', title, tools), body)
  let show: (index: number) => void = () => {}
  let index = 0
  // A click on the backdrop is one on the dialog itself.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  dialog.addEventListener('close', () => shown(null))
  return {
    element: dialog,
    // On paper no dialog can be opened, nor closed.
    close: (): void => {
      if (dialog.open) dialog.close()
    },
    open: (view: View, status: KeywordStatus, all: readonly KeywordStatus[]): void => {
      show = (next) => {
        const one = all[next]
        if (one === undefined) return
        index = next
        title.replaceChildren(html('bdi', '', one.keyword.query))
        place.textContent = say.keyword.place(next + 1, all.length)
        before.disabled = next === 0
        after.disabled = next === all.length - 1
        body.replaceChildren(keywordDetail(view, one))
        body.scrollTop = 0
        shown(one.series.keyword)
      }
      show(Math.max(0, all.indexOf(status)))
      if (!dialog.open) dialog.showModal()
      title.focus()
    },
  }
}

function icon(label: string, sign: string, click: () => void): HTMLButtonElement {
  return button('icon', click, { 'aria-label': label }, sign)
}
