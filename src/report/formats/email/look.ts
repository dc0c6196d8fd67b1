import { html, type Markup } from '../../../output/markup.ts'
import type { Accent } from '../../presentation/accent.ts'

// Mail programs read styles in attributes, and few rules of a style sheet. Colours are neither white nor black, and bars are of
// a middle brightness: programs that turn colours round for dark mode leave them readable.

export const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

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

export type Tone = 'ink' | 'muted' | 'better' | 'worse'

/** Fills of bars, the same in both modes. */
export const fills = { plain: '#3d8fd1', better: '#23946f', worse: '#d0672f', other: '#8b95a3' } as const

/** Rules for programs that know dark mode and narrow screens; without them all reads as well. */
export function styleSheet(accent: Accent | null): Markup {
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

export function colour(name: keyof typeof light): string {
  return light[name]
}

/** Text in one of the colours. */
export function toned(tone: Tone, text: string | Markup, style = ''): Markup {
  return html`<span class="${tone}" style="color:${light[tone]};${style}">${text}</span>`
}

/** A part of the message under a heading; empty without content. */
export function section(heading: string, content: Markup | null): Markup | null {
  if (content === null) return null
  return html`<tr><td class="side" style="padding:22px 32px 0 32px">
<h2 class="ink" style="margin:0 0 8px 0;${font};font-size:16px;line-height:22px;font-weight:600;color:${light.ink}">${heading}</h2>
${content}
</td></tr>
`
}

/** A table for the eye only: screen readers read its cells as text. */
export function layout(rows: readonly Markup[] | Markup, style = ''): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;border-collapse:collapse;${style}">${rows}</table>`
}

/** A bar of a table cell; its width is a part of the room. */
export function bar(share: number, fill: string): Markup {
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
export function columnChart(values: readonly (number | null)[]): Markup {
  const high = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  const width = `${Math.floor(10_000 / values.length) / 100}%`
  const cells = values.map((value) => {
    const height = Math.max(least, Math.round((room * (value ?? 0)) / high))
    const fill = value === null ? light.line : fills.plain
    return html`<td width="${width}" valign="bottom" style="width:${width};height:${room}px;padding:0 1px;vertical-align:bottom"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%"><tr><td height="${height}" bgcolor="${fill}" style="height:${height}px;background:${fill};font-size:0;line-height:0">&nbsp;</td></tr></table></td>`
  })
  return html`<table role="presentation" aria-hidden="true" width="100%" cellpadding="0" cellspacing="0" border="0" style="width:100%;table-layout:fixed;border-collapse:collapse"><tr>${cells}</tr></table>`
}
