/** Characters of the line at most: it does not break. */
const mostCharacters = 110

/** Sets the line that printed pages after the first one have at their top. The style sheet reads it as a text of CSS. */
export function setRunningHead(parts: readonly string[]): void {
  const line = parts.filter((part) => part !== '').join(' · ')
  const short = line.length > mostCharacters ? `${[...line].slice(0, mostCharacters).join('')}…` : line
  document.documentElement.style.setProperty('--running-head', cssText(short))
}

/** A text as CSS has it. All but letters, digits and spaces is escaped, so that it cannot end early. */
export function cssText(text: string): string {
  const escaped = text.replace(/[^\p{L}\p{N} ]/gu, (sign) => `\\${sign.codePointAt(0)?.toString(16)} `)
  return `"${escaped}"`
}
