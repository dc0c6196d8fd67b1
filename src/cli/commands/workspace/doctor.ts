import { exitCodeOfFindings } from '../../../doctor/checks.ts'
import { type Examined, examine } from '../../../doctor/examine.ts'
import type { Flags } from '../../../model/flag.ts'
import { count } from '../../../model/text.ts'
import { wrap } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { type Command, serviceFlags, type TypedFlags } from '../../flags.ts'
import { fileColumns } from '../../output.ts'

const flags = serviceFlags satisfies Flags

export type DoctorFlags = TypedFlags<typeof flags>

export const doctorCommand = {
  flags,
  run: doctor,
} satisfies Command

/** `rankline doctor`: what a run needs, whether it is there, and what to do where it is not. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const examined = await examine({ timeout: patientSeconds, ...flags })
  const shown = terminal.quiet === true ? examined.filter(({ state }) => state !== 'ok') : examined
  const [warnings, errors] = (['warning', 'error'] as const).map(
    (state) => examined.filter((one) => one.state === state).length,
  ) as [number, number]
  if (flags.json === true)
    await terminal.write(`${JSON.stringify({ checks: examined, warnings, errors }, null, 2)}\n`)
  else if (shown.length > 0) await terminal.write(described(shown, { warnings, errors }, terminal), true)
  return exitCodeOfFindings(examined)
}

/** A service that has not answered by then is told as one that does not. */
const patientSeconds = '20'

const colors: Readonly<Record<Examined['state'], readonly [number, number]>> = {
  ok: [32, 39],
  warning: [1, 22],
  error: [31, 39],
  skipped: [39, 39],
}

const widestState = 'warning'.length

function described(
  examined: readonly Examined[],
  { warnings, errors }: { readonly warnings: number; readonly errors: number },
  { columns, color }: Terminal,
): string {
  const widest = Math.max(...examined.map(({ check }) => check.length))
  const indent = ' '.repeat(widestState + widest + 4)
  const width = Math.min(columns, fileColumns)
  const lines = examined.flatMap(({ check, state, text }) => {
    const [first = '', ...rest] = wrap(sanitize(text), width, indent)
    const [on, off] = colors[state]
    const word = state.padEnd(widestState)
    const painted = color ? `\u001b[${on}m${word}\u001b[${off}m` : word
    return [`${painted}  ${check.padEnd(widest)}  ${first.slice(indent.length)}`, ...rest]
  })
  return `${[...lines, '', verdict(warnings, errors)].join('\n')}\n`
}

function verdict(warnings: number, errors: number): string {
  if (warnings + errors === 0) return 'All is well.'
  const found = [
    errors === 0 ? null : count(errors, 'error'),
    warnings === 0 ? null : count(warnings, 'warning'),
  ]
  return `${found.filter((part) => part !== null).join(', ')}.`
}
