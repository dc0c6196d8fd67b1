import { styleText } from 'node:util'
import type { CheckFinding, CheckState } from '../../../check/doctor.ts'
import { type Examined, examine } from '../../../check/examine.ts'
import type { OptionSpecs } from '../../../model/values.ts'
import { wrap } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { foundText, outFile } from '../../output.ts'

const flags = sharedFlags.service satisfies OptionSpecs

type DoctorFlags = TypedOptions<typeof flags>

export const doctorCommand = {
  flags,
  exits: [0, 1, 2, 3],
  docs: 'docs/doctor.md',
  examples: [
    ['doctor', 'what a run needs, and whether it is there'],
    ['doctor --json', 'for programs'],
  ],
  run: doctor,
} satisfies Command

/** `rankline doctor`: what a run needs, whether it is there, and what to do where it is not. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const examined = await examine({ timeout: patientSeconds, ...flags })
  const shown = terminal.quiet === true ? examined.filter(({ state }) => state !== 'ok') : examined
  const of = (wanted: CheckState): number => examined.filter(({ state }) => state === wanted).length
  const found = { warnings: of('warning'), errors: of('error') }
  if (flags.json === true)
    await terminal.write(`${JSON.stringify({ checks: examined, ...found }, null, 2)}\n`)
  else if (shown.length > 0) await terminal.write(described(shown, found, terminal), true)
  return exitCodeOfFindings(examined)
}

/** A service that has not answered by then is told as one that does not. */
const patientSeconds = '20'

const styles = { ok: 'green', warning: 'bold', error: 'red', skipped: 'reset' } as const satisfies Record<
  CheckState,
  string
>

const widestState = 'warning'.length

function described(
  examined: readonly Examined[],
  found: { readonly warnings: number; readonly errors: number },
  { columns, color }: Terminal,
): string {
  const widest = Math.max(...examined.map(({ check }) => check.length))
  const indent = ' '.repeat(widestState + widest + 4)
  const width = Math.min(columns, outFile.columns)
  const lines = examined.flatMap(({ check, state, text }) => {
    const [first = '', ...rest] = wrap(sanitize(text), width, indent)
    const word = state.padEnd(widestState)
    const painted = color ? styleText(styles[state], word, { validateStream: false }) : word
    return [`${painted}  ${check.padEnd(widest)}  ${first.slice(indent.length)}`, ...rest]
  })
  return `${[...lines, '', `${foundText(found) || 'All is well'}.`].join('\n')}\n`
}

/** Exit code of findings: 2 with an error, 3 with a warning, else 0. */
export function exitCodeOfFindings(findings: readonly CheckFinding[]): number {
  if (findings.some(({ state }) => state === 'error')) return 2
  return findings.some(({ state }) => state === 'warning') ? 3 : 0
}
