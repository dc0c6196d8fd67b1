import type { Channel } from '../../model/settings/workspace.ts'
import { type OpenChannel, postingTo } from './channel.ts'
import { fitParts, type Letter, type LetterPart, letterOf } from './letter.ts'

/** An incoming webhook of Slack. */
export const openSlack: OpenChannel<Channel & { readonly type: 'slack' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(slackMessage(letterOf(content))),
  }))

/** Slack takes 3,000 characters in a text, and 50 blocks in a message. */
const longestText = 3_000
const mostBlocks = 20

/** A message of blocks, and beside it the text that notifications show. */
export function slackMessage(letter: Letter) {
  // A block may stay half empty where the next line does not fit.
  const room = (mostBlocks / 2) * longestText
  const texts: string[] = []
  for (const part of fitParts(letter, room, (one) => written(one).length + 1)) {
    const line = written(part)
    const last = texts.at(-1)
    if (last === undefined || last.length + 1 + line.length > longestText) texts.push(line)
    else texts[texts.length - 1] = `${last}\n${line}`
  }
  return {
    text: escapeSlack(letter.subject),
    unfurl_links: false,
    unfurl_media: false,
    // Nothing in the text becomes a link or a mention.
    blocks: texts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })),
  }
}

function written({ is, text }: LetterPart): string {
  const safe = escapeSlack(text)
  if (is === 'title' || is === 'heading') return `*${safe.replaceAll('*', '∗')}*`
  return is === 'line' ? `• ${safe}` : `_${safe}_`
}

/** Without these three signs Slack sees no mention and no link. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
