import { drawnPage } from './page-window.ts'
import { screen, serialised } from './serialise.ts'

/**
 * The HTML of what the page shows first, as its own script draws it: a browser can show it before that script runs, which then puts
 * the same in its place. Charts are not part of it, because they are as wide as the window.
 *
 * @param json what the page reads its data from
 */
export async function firstScreen(json: string, script: string): Promise<string> {
  const { root } = await drawnPage(json, script)
  for (const unseen of root.querySelectorAll(notSeenFirst)) unseen.remove()
  return Array.from(root.querySelectorAll('#report > *'), (part) => serialised(part, screen)).join('')
}

const notSeenFirst =
  'main > :nth-child(n + 2), .trend-part, .trend-part ~ *, .page-footer, option:nth-child(n + 2)'
