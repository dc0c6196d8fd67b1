/** Characters of the line at most: it does not break. */
const mostCharacters = 110

/**
 * Sets the line that printed pages after the first one have at their top: whose report it is, and its days. The style sheet reads it as
 * a text of CSS.
 */
export function setRunningHead(client: string, title: string, days: string): void {
  const line = runningHead(client, title, days)
  document.documentElement.style.setProperty('--running-head', cssText(line))
}

/** Names are shortened, the days are not. */
export function runningHead(client: string, title: string, days: string): string {
  const room = mostCharacters - lengthOf(days)
  const ofClient = Math.max(Math.floor(room / 2), room - lengthOf(title))
  const shortClient = shortened(client, ofClient)
  return [shortClient, shortened(title, room - lengthOf(shortClient)), days]
    .filter((part) => part !== '')
    .join(' · ')
}

function lengthOf(text: string): number {
  return [...text].length
}

/** A text, or as much of it as has room. */
export function shortened(text: string, most: number): string {
  return lengthOf(text) <= most
    ? text
    : `${[...text]
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}

/** A text as CSS has it. All but letters, digits and spaces is escaped, so that it cannot end early. */
export function cssText(text: string): string {
  const escaped = text.replace(/[^\p{L}\p{N} ]/gu, (sign) => `\\${sign.codePointAt(0)?.toString(16)} `)
  return `"${escaped}"`
}
