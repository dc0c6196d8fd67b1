/** Signs that reports draw with, and what stands for each where a terminal has none of them: as wide, so that columns stay. */
const signs: Readonly<Record<string, string>> = {
  '▲': '+',
  '▼': '-',
  '…': '.',
  '·': 'x',
  '█': '#',
  '▇': '%',
  '▆': '*',
  '▅': '+',
  '▄': '=',
  '▃': '-',
  '▂': ',',
  '▁': '_',
}

const drawn = new RegExp(`[${Object.keys(signs).join('')}]`, 'g')

/** The text with its drawing signs in ASCII; words of other scripts stay as they are. */
export function asciiSigns(text: string): string {
  return text.replace(drawn, (sign) => signs[sign] as string)
}
