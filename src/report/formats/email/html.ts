import { harmless, html, type Markup } from '../../../output/markup.ts'
import type { DigestSection } from '../../../store/outbox.ts'
import { shortLink } from '../../cells.ts'
import type { Accent } from '../../presentation/accent.ts'
import type { ReportSource } from '../../report.ts'
import type { Words } from '../../words/words.ts'
import type {
  EmailAction,
  EmailContent,
  EmailFigure,
  EmailMovers,
  EmailSite,
  EmailTrend,
  WrittenChange,
} from './content.ts'

interface HtmlContext {
  readonly presentation: ReportSource['presentation']
  readonly say: Words
  /** Name of the picture of the logo in the message; null where there is none. */
  readonly logo: string | null
}

/** The HTML part: a table of 600 pixels that becomes narrower, styles in attributes, nothing from the network. */
export function emailHtml(content: EmailContent, { presentation, say, logo }: HtmlContext): string {
  const { email } = say
  const { name, subject, sentences, site, figures, trend, sites, winners, losers, actions, week } = content
  const parts = [
    head(content, { presentation, say, logo }),
    presentation.comment === null
      ? null
      : section(email.comment, prose(commentHtml(presentation.comment.html))),
    section(email.inShort, sentences.length === 0 ? null : listOf(sentences)),
    section(site === null ? email.figures : email.figuresOf(site), figureGrid(figures)),
    section(email.trend, trend === null ? null : trendChart(trend)),
    section(email.winners, content.asOf === null ? null : moverTable(winners, 'better', say)),
    section(email.losers, content.asOf === null ? null : moverTable(losers, 'worse', say)),
    section(say.nextActions.title, actionList(actions, say)),
    section(email.sites, siteTable(sites, say)),
    week === null ? null : section(week.title, weekTable(week)),
    foot(content, { presentation, say }),
  ]
  return html`<!doctype html>
<html lang="${say.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="x-apple-disable-message-reformatting">
<title>${subject}</title>
${styleSheet(presentation.accent)}
</head>
<body class="ground" style="margin:0;padding:0;background:${colour('ground')};-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${sentences.length === 0 ? name : sentences.join(' ')}</div>
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;background:${colour('ground')}"><tr><td class="outer" align="center" style="padding:24px 8px">
<table role="presentation" class="surface" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;background:${colour('surface')};text-align:left">
${parts}</table>
</td></tr></table>
</body>
</html>
`.text
}

function head({ name, period, compared }: EmailContent, { presentation, say, logo }: HtmlContext): Markup {
  const { agency, title } = presentation
  const top = presentation.accent?.light ?? fills.plain
  const sender =
    logo === null
      ? agency === null
        ? null
        : toned('muted', agency, `${font};font-size:13px;font-weight:600`)
      : html`<img src="cid:${logo}" alt="${agency ?? ''}" height="36" style="height:36px;max-width:200px;border:0;display:block">`
  const { client } = presentation
  const reader = title !== null && client !== null ? say.brand.for(client) : ''
  const under = [reader, period, compared].filter((text) => text !== '').join(', ')
  return html`<tr><td class="side" style="border-top:4px solid ${top};padding:24px 32px 0 32px">
${sender === null ? null : html`<div style="margin:0 0 14px 0">${sender}</div>`}
<h1 class="ink" style="margin:0;${font};font-size:22px;line-height:28px;font-weight:600;color:${colour('ink')}">${title ?? say.email.heading(name)}</h1>
${under === '' ? null : html`<p class="muted" style="margin:4px 0 0 0;${font};font-size:14px;line-height:20px;color:${colour('muted')}">${under}</p>`}
</td></tr>
`
}

function prose(text: Markup): Markup {
  return html`<div class="ink" style="${font};font-size:15px;line-height:22px;color:${colour('ink')}">${text}</div>`
}

/** Headings of a comment are smaller than those of the message. */
function commentHtml(comment: string): Markup {
  return harmless(
    comment.replace(
      /<h([3-6])>/g,
      '<h$1 style="margin:12px 0 4px 0;font-size:15px;line-height:22px;font-weight:600">',
    ),
  )
}

function listOf(sentences: readonly string[]): Markup {
  return layout(
    sentences.map(
      (sentence) =>
        html`<tr><td valign="top" class="accent" style="width:16px;padding:3px 0;${font};font-size:15px;line-height:22px;color:${fills.plain}">&#8226;</td><td class="ink" style="padding:3px 0;${font};font-size:15px;line-height:22px;color:${colour('ink')}">${sentence}</td></tr>`,
    ),
  )
}

function changed(change: WrittenChange | null): Markup | null {
  if (change === null) return null
  const { text, way } = change
  return way === 'same' ? toned('muted', text) : toned(way, `${way === 'better' ? '▲' : '▼'} ${text}`)
}

/** What a competitor gains is neither good nor bad to tell. */
function plain(change: WrittenChange | null): Markup | null {
  return change === null ? null : toned('muted', change.text)
}

/** Two figures in a line. */
function figureGrid(figures: readonly EmailFigure[]): Markup | null {
  if (figures.length === 0) return null
  const cell = (figure: EmailFigure | undefined): Markup => {
    const edge = `border-top:1px solid ${colour('line')};padding:10px 12px 10px 0`
    if (figure === undefined) return html`<td width="50%" class="line" style="width:50%;${edge}">&nbsp;</td>`
    const { label, value, change } = figure
    return html`<td width="50%" valign="top" class="line" style="width:50%;${edge};${font}">${toned('muted', label, 'font-size:13px;line-height:18px')}<br>${toned('ink', value, 'font-size:22px;line-height:30px;font-weight:600')}<br><span style="font-size:13px;line-height:18px">${changed(change) ?? html`&nbsp;`}</span></td>`
  }
  const rows = figures.flatMap((_, place) =>
    place % 2 === 0 ? [html`<tr>${cell(figures[place])}${cell(figures[place + 1])}</tr>`] : [],
  )
  return layout(rows)
}

function trendChart({ text, range, columns }: EmailTrend): Markup {
  return html`${columnChart(columns.map(({ value }) => value))}
<p class="muted" style="margin:8px 0 0 0;${font};font-size:13px;line-height:18px;color:${colour('muted')}">${text}; ${range}.</p>`
}

/** A name with a bar under it, and what it comes to at the right: of the same width in all tables. */
function barRow(left: { readonly name: Markup; readonly bar: Markup | null }, right: Markup): Markup {
  const cell = `border-top:1px solid ${colour('line')};${font};font-size:14px;line-height:19px`
  return html`<tr><td class="ink line" style="padding:7px 12px 7px 0;${cell};color:${colour('ink')};word-break:break-word">${left.name}${left.bar}</td><td class="line" width="140" align="right" valign="top" style="width:140px;padding:7px 0;${cell};text-align:right">${right}</td></tr>
`
}

function moverTable({ lines, more }: EmailMovers, way: 'better' | 'worse', say: Words): Markup {
  const { noWinners, noLosers, more: moreText } = say.email.movers
  if (lines.length === 0)
    return prose(toned('muted', way === 'better' ? noWinners : noLosers, 'font-size:14px'))
  const rows = lines.map(({ keyword, ranks, clicks, share }) =>
    barRow(
      { name: html`${keyword}`, bar: clicks === null ? null : bar(share, fills[way]) },
      clicks === null
        ? toned('muted', ranks)
        : html`${toned(way, clicks, 'font-weight:600')}<br>${toned('muted', ranks, 'font-size:13px')}`,
    ),
  )
  const rest =
    more > 0
      ? html`<tr><td colspan="2" style="padding:6px 0 0 0;${font};font-size:13px">${toned('muted', moreText(more))}</td></tr>`
      : null
  return layout(html`${rows}${rest}`)
}

function actionList(actions: readonly EmailAction[], say: Words): Markup | null {
  if (actions.length === 0) return null
  const rows = actions.map(({ keyword, reason, clicks, page }, place) => {
    const stake =
      clicks === null ? null : html`<br>${toned('muted', say.email.nextClicks(clicks), 'font-size:13px')}`
    const where =
      page === null
        ? null
        : html`<br><span style="font-size:13px;word-break:break-all">${linkTo(page)}</span>`
    return html`<tr><td valign="top" class="muted" style="width:24px;padding:6px 0;${font};font-size:14px;line-height:20px;color:${colour('muted')}">${place + 1}.</td><td class="ink" style="padding:6px 0;${font};font-size:14px;line-height:20px;color:${colour('ink')}"><strong>${keyword}</strong>: ${reason}${stake}${where}</td></tr>`
  })
  return layout(rows)
}

function siteTable(sites: readonly EmailSite[], say: Words): Markup | null {
  if (sites.length === 0) return null
  const most = Math.max(...sites.map(({ share }) => share), Number.MIN_VALUE)
  const rows = sites.map(({ label, isOwn, share, value, change }) => {
    const name = isOwn
      ? html`<strong>${label}</strong> ${toned('muted', `(${say.email.you})`)}`
      : html`${label}`
    return barRow(
      { name, bar: bar(share / most, isOwn ? fills.plain : fills.other) },
      html`${toned('ink', value, 'font-weight:600')}<br><span style="font-size:13px">${isOwn ? changed(change) : plain(change)}</span>`,
    )
  })
  return html`<p class="muted" style="margin:-4px 0 8px 0;${font};font-size:13px;line-height:18px;color:${colour('muted')}">${say.email.sitesNote}</p>${layout(rows)}`
}

function weekTable({ lines }: DigestSection): Markup {
  const cell = `padding:6px 12px 6px 0;border-top:1px solid ${colour('line')};${font};font-size:14px;line-height:20px`
  return layout(
    lines.map(
      ({ label, value, change }) =>
        html`<tr><td valign="top" class="muted line" width="140" style="width:140px;${cell};color:${colour('muted')}">${label}</td><td class="ink line" style="${cell};color:${colour('ink')};word-break:break-word">${value}${change === null ? null : html` ${toned('muted', `(${change})`)}`}</td></tr>`,
    ),
  )
}

function foot({ asOf }: EmailContent, { presentation, say }: Omit<HtmlContext, 'logo'>): Markup {
  const { agency, footer } = presentation
  const lines = [
    ...(asOf === null ? [] : [html`${asOf} ${say.email.movers.estimated}`]),
    ...(agency === null ? [] : [html`${say.email.madeBy(agency)}`]),
    ...(footer === null ? [] : [linked(footer)]),
  ]
  return html`<tr><td class="side" style="padding:24px 32px 28px 32px">${lines.map((line) => html`<p class="muted" style="margin:0 0 4px 0;${font};font-size:12px;line-height:18px;color:${colour('muted')}">${line}</p>`)}</td></tr>
`
}

/** Web addresses in running text, without the sign that ends a sentence. */
const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/gi

/** Text whose web addresses are links. */
function linked(text: string): Markup {
  const found = [...text.matchAll(address)]
  let end = 0
  const parts = found.flatMap((match) => {
    const before = text.slice(end, match.index)
    end = match.index + match[0].length
    return [before, anchor(match[0], match[0])]
  })
  return html`${[...parts, text.slice(end)]}`
}

/** A page by its short address; an address of another kind is only text. */
function linkTo(page: string): Markup {
  return /^https?:\/\//i.test(page) ? anchor(page, shortLink(page)) : html`${page}`
}

function anchor(address: string, text: string): Markup {
  return html`<a href="${address}" style="text-decoration:underline">${text}</a>`
}

// Mail programs read styles in attributes, and few rules of a style sheet. Colours are neither white nor black, and bars are of
// a middle brightness: programs that turn colours round for dark mode leave them readable.

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

const light = {
  ground: '#f3f4f2',
  surface: '#fdfdfc',
  ink: '#1b1e24',
  muted: '#5a606b',
  line: '#e2e3de',
  better: '#00704f',
  worse: '#b23c00',
  track: '#e9eae6',
} as const

const dark: typeof light | Record<keyof typeof light, string> = {
  ground: '#101215',
  surface: '#1a1d22',
  ink: '#eceef1',
  muted: '#adb4be',
  line: '#343a43',
  better: '#46c79b',
  worse: '#ff9560',
  track: '#2b3038',
}

type Tone = 'ink' | 'muted' | 'better' | 'worse'

/** Fills of bars, the same in both modes. */
const fills = { plain: '#3d8fd1', better: '#23946f', worse: '#d0672f', other: '#8b95a3' } as const

/** Rules for programs that know dark mode and narrow screens; without them all reads as well. */
function styleSheet(accent: Accent | null): Markup {
  const rules = (colours: typeof dark, link: string) =>
    [
      `.ground{background:${colours.ground}!important}`,
      `.surface{background:${colours.surface}!important}`,
      `.line{border-color:${colours.line}!important}`,
      `.track{background:${colours.track}!important}`,
      ...(['ink', 'muted', 'better', 'worse'] as const).map(
        (tone) => `.${tone}{color:${colours[tone]}!important}`,
      ),
      `a,.accent{color:${link}!important}`,
    ].join('')
  return html`<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
a{color:${accent?.light ?? '#0b5cad'}}
.accent{color:${accent?.light ?? fills.plain}!important}
@media (prefers-color-scheme:dark){${rules(dark, accent?.dark ?? '#7ab8f5')}}
@media (max-width:480px){.side{padding-left:18px!important;padding-right:18px!important}.outer{padding:0!important}}
</style>`
}

function colour(name: keyof typeof light): string {
  return light[name]
}

/** Text in one of the colours. */
function toned(tone: Tone, text: string | Markup, style = ''): Markup {
  return html`<span class="${tone}" style="color:${light[tone]};${style}">${text}</span>`
}

/** A part of the message under a heading; empty without content. */
function section(heading: string, content: Markup | null): Markup | null {
  if (content === null) return null
  return html`<tr><td class="side" style="padding:22px 32px 0 32px">
<h2 class="ink" style="margin:0 0 8px 0;${font};font-size:16px;line-height:22px;font-weight:600;color:${light.ink}">${heading}</h2>
${content}
</td></tr>
`
}

/** A table for the eye only: screen readers read its cells as text. */
function layout(rows: readonly Markup[] | Markup, style = ''): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;border-collapse:collapse;${style}">${rows}</table>`
}

/** A bar of a table cell; its width is a part of the room. */
function bar(share: number, fill: string): Markup {
  const percent = Math.max(1, Math.min(100, Math.round(share * 100)))
  const rest =
    percent === 100
      ? null
      : html`<td class="track" style="background:${light.track};font-size:0;line-height:0;height:6px">&nbsp;</td>`
  return html`<table role="presentation" aria-hidden="true" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;border-collapse:collapse;margin-top:4px"><tr><td width="${percent}%" bgcolor="${fill}" style="width:${percent}%;background:${fill};font-size:0;line-height:0;height:6px">&nbsp;</td>${rest}</tr></table>`
}

/** Height of the column chart in pixels. */
const room = 72
/** The least column: a day with little is seen. */
const least = 2

/** Columns of table cells, from zero, so that their heights compare as the values do; null is a day that is not known. */
function columnChart(values: readonly (number | null)[]): Markup {
  const high = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  const width = `${Math.floor(10_000 / values.length) / 100}%`
  const cells = values.map((value) => {
    const height = Math.max(least, Math.round((room * (value ?? 0)) / high))
    const fill = value === null ? light.line : fills.plain
    return html`<td width="${width}" valign="bottom" style="width:${width};height:${room}px;padding:0 1px;vertical-align:bottom"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%"><tr><td height="${height}" bgcolor="${fill}" style="height:${height}px;background:${fill};font-size:0;line-height:0">&nbsp;</td></tr></table></td>`
  })
  return html`<table role="presentation" aria-hidden="true" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;table-layout:fixed;border-collapse:collapse"><tr>${cells}</tr></table>`
}
