import type { Channel } from '../../model/settings/workspace.ts'
import { type OpenChannel, postingTo } from './channel.ts'
import { fitParts, type Letter, type LetterPart, letterOf } from './letter.ts'

/** A workflow of Teams that posts a card when a webhook request is received. */
export const openTeams: OpenChannel<Channel & { readonly type: 'teams' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(teamsMessage(letterOf(content))),
  }))

/** Teams takes 28 KB, of which the frame of the card needs some. */
const largestMessage = 28 * 1024
const frame = 1_024

export function teamsMessage(letter: Letter) {
  const room = largestMessage - frame
  const parts = fitParts(letter, room, (part) => Buffer.byteLength(JSON.stringify(block(part))) + 1)
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: parts.map(block),
        },
      },
    ],
  }
}

/** Text runs are shown as they are: only text blocks are read as Markdown. */
function block({ is, text }: LetterPart) {
  const look = {
    title: { size: 'Large', weight: 'Bolder' },
    heading: { weight: 'Bolder' },
    line: {},
    more: { isSubtle: true },
  }[is]
  const shown = is === 'line' ? `• ${text}` : text
  return { type: 'RichTextBlock', spacing: 'Small', inlines: [{ type: 'TextRun', text: shown, ...look }] }
}
