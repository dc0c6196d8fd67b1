import { styleText } from 'node:util'
import { asStream } from '../../output/formats/format.ts'
import { asciiSigns, formatTable, wrap } from '../../output/table.ts'
import { sanitize } from '../../output/terminal.ts'
import { reportPageData } from '../build-data.ts'
import { shortUrl } from '../cells.ts'
import type { ReportFormat, ReportSource, TextLayout } from '../report.ts'
import { type Story, shownMoves, storiesOf } from '../story/story.ts'
import type { FigureChange } from '../words/formats.ts'
import { wordsOf } from '../words/words.ts'

const say = wordsOf('en')

/** The sentences, the figures, what moved and what to do next, without the ranks. */
export const storyFormat: ReportFormat = {
  chunks: (source) => asStream(storyText(source)),
  painted: true,
  measured: true,
}

/** What a terminal shows first. */
export function storyText(source: ReportSource): string {
  return textOfStories(storiesOf(reportPageData(source), { say, mark: sanitize }), source.layout)
}

/** Stories one after the other; each begins with its name where there are several. */
export function textOfStories(
  stories: ReturnType<typeof storiesOf>,
  layout: TextLayout & { readonly ascii: boolean },
): string {
  const text = stories
    .map((one) => [...(one.label === null ? [] : [`${one.label}:`]), ...blocks(one, layout)].join('\n'))
    .join('\n\n')
  return text === '' ? '' : `${layout.ascii ? asciiSigns(text) : text}\n`
}

const colors = { better: 'green', worse: 'red', same: 'gray' } as const

function blocks({ sentences, limits, cards, moves, steps, nothing }: Story, { width, color }: TextLayout) {
  const paint = (text: string, way: FigureChange['way']): string =>
    color ? styleText(colors[way], text, { validateStream: false }) : text
  const changes = cards.map(({ change }) => change?.text ?? '')
  const figures = painted(
    formatTable(
      [
        { title: '' },
        { title: '', align: 'right' },
        { title: '', align: 'right' },
        { title: '', shrinks: true },
      ],
      cards.map(({ label, value, about }, place) => [label, value, changes[place] ?? '', about]),
      width,
    ),
    cards.map(({ change }) => [change?.text ?? '', change?.way ?? 'same']),
    paint,
  )
  const shown = moves.slice(0, shownMoves)
  const signs = shown.map(({ way }) => (way === 'up' || way === 'entered' ? '▲' : '▼'))
  const moved = painted(
    formatTable(
      [
        { title: '' },
        { title: '', shrinks: true, least: 24 },
        { title: '' },
        { title: '', align: 'right' },
        { title: '', shrinks: true, dropped: true },
      ],
      shown.map(({ name, from, to, clicks, about }, place) => [
        signs[place] ?? '',
        name,
        `${from} → ${to}`,
        clicks === null ? '' : say.gain(clicks),
        about,
      ]),
      width,
    ),
    signs.map((sign) => [sign, sign === '▲' ? 'better' : 'worse']),
    paint,
  )
  const todo = steps.map(({ what, reason, stake, pages }) => {
    const known = [
      stake ?? [],
      pages.map(({ where, page }) => say.story.inMarket(where, sanitize(shortUrl(page)))),
    ]
    return `- ${what}: ${reason}${known.flat().length === 0 ? '' : ` (${known.flat().join('; ')})`}`
  })
  const head = (text: string): string => (color ? styleText('bold', text, { validateStream: false }) : text)
  const block = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', head(title), ...lines]
  return [
    ...sentences.flatMap(({ text }) => wrap(text, width)),
    ...(figures.length === 0 ? [] : ['', ...figures]),
    ...limits.flatMap((line) => wrap(line, width)),
    ...block(
      shown.some(({ clicks }) => clicks !== null)
        ? `${say.story.blocks.moved}, by clicks a month`
        : say.story.blocks.moved,
      moved,
    ),
    ...block(
      say.story.blocks.next,
      steps.length === 0 ? wrap(nothing, width) : todo.flatMap((line) => wrap(line, width)),
    ),
  ]
}

/** The rows of a table without its head, each with a sign or change in its colour; a colour covers the whole of it. */
function painted(
  table: string,
  marks: readonly (readonly [text: string, way: FigureChange['way']])[],
  paint: (text: string, way: FigureChange['way']) => string,
): readonly string[] {
  const [, ...rows] = table.replace(/\n$/, '').split('\n')
  return rows.map((row, place) => {
    const [text, way] = marks[place] ?? ['', 'same' as const]
    return text === '' ? row : row.replace(text, () => paint(text, way))
  })
}
