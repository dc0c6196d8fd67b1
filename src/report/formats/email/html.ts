import { harmless, html, type Markup } from '../../../output/markup.ts'
import type { DigestSection } from '../../../store/sqlite/unattended/schema.ts'
import { shortLink } from '../../cells.ts'
import type { Presentation } from '../../presentation/presentation.ts'
import type { EmailContent } from './content.ts'

/**
 * The HTML part: a table of 600 pixels that becomes narrower, styles in attributes, nothing from the network.
 * @param logo name of the picture of the logo in the message; null where there is none
 */
export function emailHtml(content: EmailContent, logo: string | null): string {
  const { presentation, say, name, subject, sentences, limits, site, cards, chart, week } = content
  const { comment, accent } = presentation
  const { email, overview } = say
  const parts = [
    head(content, logo),
    section(email.comment, comment && prose(commentHtml(comment.html))),
    section(null, sentences.length === 0 ? null : saidIn(sentences)),
    section(chart?.label ?? null, chart && trendChart(chart)),
    section(site, figureGrid(cards, limits)),
    section(overview.blocks.moved, moveTable(content)),
    section(overview.blocks.next, stepList(content)),
    section(week?.title ?? null, week && weekTable(week)),
    foot(content),
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
${styleSheet(accent, content.colour)}
</head>
<body class="ground" style="margin:0;padding:0;background:${light.ground};-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${sentences.length === 0 ? name : sentences.join(' ')}</div>
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;background:${light.ground}"><tr><td class="outer" align="center" style="padding:24px 8px">
<table role="presentation" class="surface" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;background:${light.surface};text-align:left">
${parts}</table>
</td></tr></table>
</body>
</html>
`.text
}

function head({ presentation, heading, about, colour: top }: EmailContent, logo: string | null): Markup {
  const { agency } = presentation
  const picture =
    logo === null
      ? null
      : html`<img src="cid:${logo}" alt="${agency ?? ''}" height="36" style="height:36px;max-width:200px;border:0;display:block">`
  const sender = picture ?? (agency && toned('muted', agency, `${font};font-size:13px;font-weight:600`))
  return html`<tr><td class="side" style="border-top:4px solid ${top};padding:24px 32px 0 32px">
${sender === null ? null : html`<div style="margin:0 0 14px 0">${sender}</div>`}
<h1 class="muted" style="margin:0;${font};font-size:15px;line-height:21px;font-weight:600;color:${light.muted}">${heading}</h1>
${about === '' ? null : html`<p class="muted" style="margin:2px 0 0 0;${font};font-size:14px;line-height:20px;color:${light.muted}">${about}</p>`}
</td></tr>
`
}

function prose(text: Markup): Markup {
  return html`<div class="ink" style="${font};font-size:15px;line-height:22px;color:${light.ink}">${text}</div>`
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

/** The first sentence says what happened, the others why. */
function saidIn([first = '', ...others]: readonly string[]): Markup {
  const more = others.map(
    (sentence) =>
      html`<p class="ink" style="margin:10px 0 0 0;${font};font-size:16px;line-height:24px;color:${light.ink}">${sentence}</p>`,
  )
  return html`<p class="ink" style="margin:0;${font};font-size:22px;line-height:30px;font-weight:600;color:${light.ink}">${first}</p>${more}`
}

/** Two figures in a line, and what they leave out. */
function figureGrid(cards: EmailContent['cards'], limits: readonly string[]): Markup | null {
  if (cards.length === 0) return null
  const cell = (card: EmailContent['cards'][number] | undefined): Markup => {
    const edge = `border-top:1px solid ${light.line};padding:12px 12px 12px 0`
    if (card === undefined) return html`<td width="50%" class="line" style="width:50%;${edge}">&nbsp;</td>`
    const { label, value, change } = card
    const changed =
      change === null ? html`&nbsp;` : toned(change.way === 'same' ? 'muted' : change.way, change.text)
    return html`<td width="50%" valign="top" class="line" style="width:50%;${edge};${font}">${toned('muted', label, 'font-size:13px;line-height:18px')}<br>${toned('ink', value, 'font-size:28px;line-height:36px;font-weight:600')}<br><span style="font-size:14px;line-height:20px">${changed}</span></td>`
  }
  const rows = cards.flatMap((_, place) =>
    place % 2 === 0 ? [html`<tr>${cell(cards[place])}${cell(cards[place + 1])}</tr>`] : [],
  )
  const without = limits.map((line) => small(line))
  return html`${layout(rows)}${without}`
}

function small(text: string | Markup): Markup {
  return html`<p class="muted" style="margin:6px 0 0 0;${font};font-size:13px;line-height:18px;color:${light.muted}">${text}</p>`
}

/** The picture between the ends of its axes, and the names of its lines: the own one in the accent, all others grey. */
function trendChart(chart: NonNullable<EmailContent['chart']>): Markup {
  const { text, top, from, until, name, value, rivals, colours, width } = chart
  const tick = `${font};font-size:12px;line-height:16px;color:${light.muted}`
  const dot = (fill: string): Markup => html`<span style="color:${fill}">&#9679;</span>`
  const others =
    rivals.length === 0
      ? null
      : html` &nbsp; ${dot(colours.rivals)} ${rivals.map(({ label, value }) => `${label} ${value}`).join(' · ')}`
  return html`<div class="muted" style="${tick}">${top}</div>
<img src="cid:chart" alt="${text}" width="${width}" style="display:block;width:100%;max-width:${width}px;height:auto;border:0">
${layout(html`<tr><td class="muted" style="${tick}">${from}</td><td class="muted" align="right" style="${tick};text-align:right">${until}</td></tr>`)}
${small(html`${dot(colours.own)} ${toned('ink', `${name} ${value}`, 'font-weight:600')}${others}`)}`
}

/** What moved, the most clicks first. */
function moveTable({ moves, more, say }: EmailContent): Markup | null {
  if (moves.length === 0) return null
  const cell = `border-top:1px solid ${light.line};${font};font-size:15px;line-height:21px`
  const rows = moves.map(({ keyword, isUp, ranks, clicks, about }) => {
    const way = isUp ? ('better' as const) : ('worse' as const)
    const under = about === '' ? null : html`<br>${toned('muted', about, 'font-size:13px')}`
    return html`<tr><td valign="top" class="line" width="20" style="width:20px;padding:8px 0;${cell}">${toned(way, isUp ? '▲' : '▼')}</td><td class="ink line" valign="top" style="padding:8px 12px 8px 0;${cell};color:${light.ink};word-break:break-word">${keyword}${under}</td><td class="line" width="120" align="right" valign="top" style="width:120px;padding:8px 0;${cell};text-align:right">${toned('ink', ranks)}${clicks === '' ? null : html`<br>${toned(way, clicks, 'font-size:13px')}`}</td></tr>
`
  })
  const order = moves.some(({ clicks }) => clicks !== '') ? [say.email.byClicks] : []
  const rest = [...more, ...order].join(' · ')
  return html`${layout(rows)}${rest === '' ? null : small(rest)}`
}

function stepList({ steps, nothing }: EmailContent): Markup | null {
  if (nothing !== null) return prose(html`${nothing}`)
  if (steps.length === 0) return null
  const rows = steps.map(({ what, reason, stake, pages }, place) => {
    const known = [
      ...(stake === null ? [] : [html`${stake}`]),
      ...pages.map(
        ({ where, page }) =>
          html`${where === '' ? '' : `${where}: `}<span style="word-break:break-word">${linkTo(page)}</span>`,
      ),
    ]
    const under =
      known.length === 0
        ? null
        : html`<br><span class="muted" style="font-size:13px;color:${light.muted}">${known.flatMap((one, index) => (index === 0 ? [one] : [' · ', one]))}</span>`
    return html`<tr><td valign="top" class="muted" style="width:24px;padding:6px 0;${font};font-size:15px;line-height:21px;color:${light.muted}">${place + 1}.</td><td class="ink" style="padding:6px 0;${font};font-size:15px;line-height:21px;color:${light.ink}"><strong>${what}</strong>: ${reason}${under}</td></tr>`
  })
  return layout(rows)
}

function weekTable({ lines }: DigestSection): Markup {
  const cell = `padding:6px 12px 6px 0;border-top:1px solid ${light.line};${font};font-size:14px;line-height:20px`
  return layout(
    lines.map(
      ({ label, value, change }) =>
        html`<tr><td valign="top" class="muted line" width="140" style="width:140px;${cell};color:${light.muted}">${label}</td><td class="ink line" style="${cell};color:${light.ink};word-break:break-word">${value}${change === null ? null : html` ${toned('muted', `(${change})`)}`}</td></tr>`,
    ),
  )
}

function foot({ closing, presentation: { footer } }: EmailContent): Markup {
  return html`<tr><td class="side" style="padding:24px 32px 28px 32px">${closing.map((line) => html`<p class="muted" style="margin:0 0 4px 0;${font};font-size:12px;line-height:18px;color:${light.muted}">${line === footer ? linked(line) : line}</p>`)}</td></tr>
`
}

/** Text whose web addresses, without the sign that ends a sentence, are links. */
function linked(text: string): Markup {
  const parts = text.split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)])/i)
  return html`${parts.map((part, place) => (place % 2 === 1 ? anchor(part, part) : part))}`
}

/** A page by its short address; an address of another kind is only text. */
function linkTo(page: string): Markup {
  return /^https?:\/\//i.test(page) ? anchor(page, shortLink(page)) : html`${page}`
}

function anchor(address: string, text: string): Markup {
  return html`<a href="${address}" style="text-decoration:underline">${text}</a>`
}

// Mail programs read styles in attributes, and few rules of a style sheet. Colours are neither white nor black, and lines are of
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
} as const

const dark: typeof light | Record<keyof typeof light, string> = {
  ground: '#101215',
  surface: '#1a1d22',
  ink: '#eceef1',
  muted: '#adb4be',
  line: '#343a43',
  better: '#46c79b',
  worse: '#ff9560',
}

type Tone = 'ink' | 'muted' | 'better' | 'worse'

/** Rules for programs that know dark mode and narrow screens; without them all reads as well. */
function styleSheet(accent: Presentation['accent'], colour: string): Markup {
  const rules = (colours: typeof dark, link: string) =>
    [
      `.ground{background:${colours.ground}!important}`,
      `.surface{background:${colours.surface}!important}`,
      `.line{border-color:${colours.line}!important}`,
      ...(['ink', 'muted', 'better', 'worse'] as const).map(
        (tone) => `.${tone}{color:${colours[tone]}!important}`,
      ),
      `a,.accent{color:${link}!important}`,
    ].join('')
  return html`<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
a{color:${accent?.light ?? '#0b5cad'}}
.accent{color:${colour}!important}
@media (prefers-color-scheme:dark){${rules(dark, accent?.dark ?? '#7ab8f5')}}
@media (max-width:480px){.side{padding-left:18px!important;padding-right:18px!important}.outer{padding:0!important}}
</style>`
}

/** Text in one of the colours. */
function toned(tone: Tone, text: string | Markup, style = ''): Markup {
  return html`<span class="${tone}" style="color:${light[tone]};${style}">${text}</span>`
}

/** A part of the message, under a heading if it has one; empty without content. */
function section(heading: string | null, content: Markup | null): Markup | null {
  if (content === null) return null
  return html`<tr><td class="side" style="padding:24px 32px 0 32px">
${heading === null ? null : html`<h2 class="ink" style="margin:0 0 8px 0;${font};font-size:17px;line-height:24px;font-weight:600;color:${light.ink}">${heading}</h2>`}
${content}
</td></tr>
`
}

/** A table for the eye only: screen readers read its cells as text. */
function layout(rows: readonly Markup[] | Markup, style = ''): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;border-collapse:collapse;${style}">${rows}</table>`
}
