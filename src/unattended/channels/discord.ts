import type { Channel } from '../../model/settings/workspace.ts'
import { type OpenChannel, postingTo } from './channel.ts'
import { fitParts, type Letter, type LetterPart, letterOf } from './letter.ts'

/** A webhook of a channel on Discord. */
export const openDiscord: OpenChannel<Channel & { readonly type: 'discord' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(discordMessage(letterOf(content))),
  }))

/** Discord takes as many characters. */
const longestContent = 2_000
/** No previews of what is linked. */
const suppressEmbeds = 4

export function discordMessage(letter: Letter) {
  const parts = fitParts(letter, longestContent, (part) => written(part).length + 1)
  return {
    content: parts.map(written).join('\n'),
    allowed_mentions: { parse: [] },
    flags: suppressEmbeds,
  }
}

function written({ is, text }: LetterPart): string {
  const safe = escapeDiscord(text)
  if (is === 'title' || is === 'heading') return `**${safe}**`
  return is === 'line' ? `- ${safe}` : safe
}

/** A backslash before all that Discord takes for markup; a mention is also broken by a space without width. */
function escapeDiscord(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>()[\]]+)/)
    .map((piece, place) =>
      // A backslash would become a part of an address.
      place % 2 === 1 ? piece : piece.replaceAll(/[\\`*_~|<>[\]]/g, '\\$&'),
    )
    .join('')
    .replaceAll('@', '@\u200b')
}
