import type { Argv } from 'yargs'
import type { SettingFlags } from '../config.ts'
import type { Terminal } from '../terminal.ts'

/** Flags as yargs gives them: text, switches, lists. */
export type Flags = Readonly<Record<string, unknown>> & SettingFlags & { readonly json?: boolean | undefined }

/** Does what a command says and answers the exit code. */
export type Action = (flags: never, terminal: Terminal) => Promise<number>

/** What a user may type, apart from what is then done: that is loaded only when it is asked for. */
export interface Command {
  /** Name and positional arguments, as yargs reads them. */
  readonly usage: string
  readonly describe: string
  /** Whether `-` stands for a job on standard input. */
  readonly readsStdin?: true
  /** What may be typed, and what that does. */
  readonly examples?: readonly (readonly [typed: string, does: string])[]
  readonly flags: (yargs: Argv) => Argv
  readonly load: () => Promise<Action>
}

/** A flag that takes text; numbers are read, and refused with a sentence, where they are used. */
export function textFlag(describe: string) {
  return { type: 'string', describe, requiresArg: true } as const
}

/** A flag that may be given several times. */
export function listFlag(describe: string) {
  return { type: 'string', array: true, nargs: 1, describe } as const
}

export function switchFlag(describe: string) {
  return { type: 'boolean', describe } as const
}
