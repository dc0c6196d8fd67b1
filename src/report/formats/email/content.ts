import { joined } from '../../../model/text.ts'
import { type Mark, pngOf } from '../../../output/png.ts'
import { sanitizeLine } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/sqlite/unattended/schema.ts'
import { reportPageData } from '../../build-data.ts'
import type { PageData } from '../../data.ts'
import { historyOfParts, partLabel, partsOf } from '../../history/filter-history.ts'
import { keywordStatuses } from '../../history/keyword-status.ts'
import type { ReportSource } from '../../report.ts'
import { isRise } from '../../story/moves.ts'
import { type Story, shownMoves, story } from '../../story/story.ts'
import { summarise } from '../../summary.ts'
import { comparisonInWords, daysInWords, type Words, wordsOf } from '../../words/words.ts'

/** What the message says, in words; both of its parts are written from it. */
export type EmailContent = ReturnType<typeof emailContent>

/** Reads what the message is made of: the story of the first own target, as every form of a report tells it. */
export function emailContent(source: ReportSource, week: DigestSection | null) {
  const { job, presentation, ranked } = source
  const { title, client, agency, footer } = presentation
  const say = wordsOf(presentation.language)
  const data = reportPageData(source)
  const { history, compare, measure } = data
  const name = client ?? title ?? sanitizeLine(job)
  const statuses = keywordStatuses(history, compare)
  const told = (target: number) => story(data, { target, say, mark: sanitizeLine, statuses })
  const own = history.targets.findIndex((target) => target.own)
  const { headline, sentences, limits, cards, moves, steps, nothing } = told(Math.max(0, own))
  const until = history.days.at(-1)
  const ofFirst = historyOfParts(history, partsOf(history, measure.kind).slice(0, 1))
  const { compared } = summarise(ofFirst, { ...measure, compare })
  const colour = presentation.accent?.light ?? chartColours.own
  return {
    presentation,
    say,
    /** Of the own target. */
    colour,
    /** For whom it is: the client, else the title, else the job. */
    name,
    subject: joined([name, headline.replace(/\.$/, '')], ': '),
    heading: title ?? say.email.heading(name),
    /** The client, if the heading does not name it, and the days. */
    about: nonEmpty(
      title !== null && client !== null ? say.brand.for(client) : '',
      until === undefined ? '' : daysInWords(say, { from: ranked.period?.from ?? until, until }),
      until === undefined ? '' : comparisonInWords(say, ranked.compare, compared),
    ).join(', '),
    sentences: sentences.map(({ text }) => text),
    /** What the figures leave out. */
    limits,
    /** Site of the figures; null where there is one own target only. */
    site:
      history.targets.filter((target) => target.own).length > 1
        ? sanitizeLine(history.targets[own]?.label ?? '')
        : null,
    cards,
    chart: chartOf(data, own, told, { say, colour }),
    moves: moves.slice(0, shownMoves).map(({ name: keyword, way, from, to, clicks, about }) => ({
      keyword,
      isUp: isRise(way),
      ranks: `${from} → ${to}`,
      /** Clicks a month won or lost, with their sign; empty for none, and where they are not known. */
      clicks: clicks === null || say.gain(clicks) === '0' ? '' : say.gain(clicks),
      about,
    })),
    /** How many moves are not shown. */
    more: moves.length > shownMoves ? [say.email.more(moves.length - shownMoves)] : [],
    steps: steps.map(({ pages, ...step }) => ({
      ...step,
      pages: pages.map(({ where, page }) => ({ where, page: sanitizeLine(page) })),
    })),
    /** Why there is nothing to do; told in place of steps. */
    nothing: cards.length === 0 || steps.length > 0 ? null : nothing,
    /** What the runs of the week came to; null where that is not told. */
    week: week === null ? null : harmlessSection(week),
    /** What the figures are of, and who made the report. */
    closing: nonEmpty(
      until === undefined ? '' : asOfText(data, until, say, cards),
      agency === null ? '' : say.email.madeBy(agency),
      footer ?? '',
    ),
    /** The last day of the report. A job without a run has none; the first of all days is the same on every machine. */
    day: until ?? '1970-01-01',
  }
}

/** Those of the texts that say something. */
function nonEmpty(...texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== '')
}

/** How many keywords there are and of which day; and what the figures are of, if the job asks for several kinds or engines. */
function asOfText({ history, measure }: PageData, until: string, say: Words, cards: Story['cards']): string {
  if (cards.length === 0) return ''
  const [first, ...others] = partsOf(history, measure.kind)
  const all = first === undefined ? history : historyOfParts(history, [first])
  const keywords = new Set(all.series.map(({ keyword }) => keyword)).size
  return [
    say.email.asOf(say.email.keywords(keywords), until),
    ...(first === undefined || others.length === 0 ? [] : [say.email.partsOf(partLabel(first, say))]),
    ...(cards.some(({ metric }) => metric === 'clicks') ? [say.email.estimated] : []),
  ].join(' ')
}

/** Texts of alerts have queries and addresses of strangers in them. */
function harmlessSection({ title, lines }: DigestSection): DigestSection {
  return { title, lines: lines.map((line) => ({ ...line, value: sanitizeLine(line.value) })) }
}

/** Competitors that are drawn, those with the most. */
const mostRivals = 5
/** Known days that make a line. */
const leastDays = 3

/** The first figure of the own target day by day, from the compared day on, beside its competitors; null where there is no line. */
function chartOf(
  data: PageData,
  own: number,
  told: (target: number) => Story,
  { say, colour }: { readonly say: Words; readonly colour: string },
) {
  const { targets, days } = data.history
  const [main] = own === -1 ? [] : told(own).cards
  if (main === undefined || known(main.trend).length < leastDays) return null
  const rivals = targets
    .flatMap((target, place) => {
      const [card] = target.own ? [] : told(place).cards
      return card?.metric === main.metric && known(card.trend).length > 1
        ? [{ label: sanitizeLine(target.label), card, last: known(card.trend).at(-1) ?? 0 }]
        : []
    })
    .toSorted((a, b) => b.last - a.last)
    .slice(0, mostRivals)
  const top = ceiling(
    Math.max(...[main, ...rivals.map(({ card }) => card)].flatMap(({ trend }) => known(trend))),
  )
  if (top === 0) return null
  const written = (value: number): string => {
    const isShare = main.metric === 'visibility' || main.metric === 'share_of_voice'
    return say.figure(value, isShare ? 'share' : main.metric === 'clicks' ? 'clicks a month' : 'keywords')
  }
  const [from = '', until = ''] = [days.at(-main.trend.length), days.at(-1)]
  const [first = 0, last = 0] = [known(main.trend)[0], known(main.trend).at(-1)]
  const name = sanitizeLine(targets[own]?.label ?? '')
  return {
    label: main.label,
    /** What the picture shows, in a sentence. */
    text: say.email.trendText(name, written(first), from, written(last), until),
    top: written(top),
    from: say.shortDay(from),
    until: say.shortDay(until),
    name,
    value: main.value,
    rivals: rivals.map(({ label, card }) => ({ label, value: card.value })),
    colours: { own: colour, rivals: chartColours.rival },
    /** In pixels of the page. */
    width: chartSize.width,
    picture: pictureOf(
      main.trend,
      rivals.map(({ card }) => card.trend),
      top,
      colour,
    ),
  }
}

type DailyValues = readonly (number | null)[]

function known(trend: DailyValues): readonly number[] {
  return trend.filter((value) => value !== null)
}

/** The end of the axis, which begins at zero: a round number that is not less than the greatest value. */
function ceiling(most: number): number {
  if (most <= 0) return 0
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= most) ?? 10) * power
}

/** Of middle brightness: mail programs show it on light and on dark grounds. */
const chartColours = { own: '#3d8fd1', rival: '#8b95a3' } as const

/** In pixels of the page; the picture has twice as many each way. */
const chartSize = { width: 536, height: 168 } as const

function pictureOf(own: DailyValues, rivals: readonly DailyValues[], top: number, accent: string): Buffer {
  const [width, height] = [chartSize.width * 2, chartSize.height * 2]
  const edge = 12
  const y = (value: number): number => height - edge - (value / top) * (height - 2 * edge)
  const marks = (trend: DailyValues, look: Pick<Mark, 'colour' | 'draw' | 'opacity'>): readonly Mark[] => {
    const x = (day: number): number => edge + (day / Math.max(1, trend.length - 1)) * (width - 2 * edge)
    return stretches(trend).map((stretch) => ({
      ...look,
      points: stretch.map(([day, value]) => [x(day), y(value)] as const),
    }))
  }
  const grid = [0, 0.5, 1].map((part): Mark => {
    const at = Math.round(y(part * top)) + 0.5
    const points = [[edge, at] as const, [width - edge, at] as const]
    return { points, colour: chartColours.rival, draw: { width: 1.5 }, opacity: part === 0 ? 0.6 : 0.25 }
  })
  const line = marks(own, { colour: accent, draw: { width: 6 }, opacity: 1 })
  const end = line.at(-1)?.points.at(-1)
  return pngOf({ width, height }, [
    ...grid,
    ...marks(own, { colour: accent, draw: { floor: height - edge }, opacity: 0.1 }),
    ...rivals.flatMap((trend) =>
      marks(trend, { colour: chartColours.rival, draw: { width: 3 }, opacity: 0.8 }),
    ),
    ...line,
    ...(end === undefined ? [] : [{ points: [end], colour: accent, draw: { width: 16 }, opacity: 1 }]),
  ])
}

/** The stretches of days that are known, each day with its place. */
function stretches(trend: DailyValues): readonly (readonly (readonly [day: number, value: number])[])[] {
  const all: (readonly [number, number])[][] = [[]]
  for (const [day, value] of trend.entries())
    if (value === null) all.push([])
    else all.at(-1)?.push([day, value])
  return all.filter((one) => one.length > 0)
}
