import { outgoing } from '../../../app/messages/outgoing.ts'
import { tryChannels } from '../../../app/messages/try-channels.ts'
import { openWorkspace } from '../../../app/workspace.ts'
import { UsageError } from '../../../model/errors.ts'
import type { Flags } from '../../../model/flag.ts'
import { closestMatch } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { type Command, serviceFlags, type TypedFlags } from '../../flags.ts'

const works = { test }

const flags = { 'allow-http': serviceFlags['allow-http'] } satisfies Flags

type AlertsFlags = TypedFlags<typeof flags> & { readonly what: string; readonly name?: string }

export const alertsCommand = {
  flags,
  examples: [
    ['alerts test', 'a sample through every channel of rankline.yaml'],
    ['alerts test mail', 'through one of them'],
  ],
  run: alerts,
} satisfies Command

/** `rankline alerts`: what was told, and whether channels work. */
export async function alerts(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  return await works[chosenWork(flags.what)](flags, terminal)
}

function chosenWork(what: string): keyof typeof works {
  if (Object.hasOwn(works, what)) return what as keyof typeof works
  const known = Object.keys(works)
  const near = closestMatch(what, known)
  throw new UsageError(
    `rankline alerts does not know '${what}'. ${near === null ? `Write one of ${known.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

const failedExitCode = 3

/** `rankline alerts test`: a sample through one channel, or all. */
async function test(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const workspace = await openWorkspace('.')
  const tries = await tryChannels(workspace, flags.name, outgoing(flags['allow-http'] === true), systemClock)
  const lines = tries.map(({ channel, type, delivered, reason }) => {
    const how = delivered ? 'delivered' : 'not delivered'
    return `${sanitize(channel)} (${type}): ${how}${reason === null ? '' : `: ${sanitize(reason)}`}`
  })
  await terminal.write(flags.json === true ? `${JSON.stringify(tries, null, 2)}\n` : `${lines.join('\n')}\n`)
  return tries.every(({ delivered }) => delivered) ? 0 : failedExitCode
}
