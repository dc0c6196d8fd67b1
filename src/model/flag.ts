/** A flag of a command: it takes a text, a text each time that it is given, or none. */
export interface Flag {
  readonly kind: 'text' | 'list' | 'switch'
  readonly help: string
  /** One letter. */
  readonly alias?: string
  /** What can be written, where that is a short list. */
  readonly values?: readonly string[]
}

/** The text typed for a flag; numbers are parsed where they are used. */
export type FlagValue<F extends Flag> = F extends { kind: 'switch' }
  ? boolean
  : F extends { kind: 'list' }
    ? readonly string[]
    : string

export function textFlag(help: string) {
  return { kind: 'text', help } as const
}

/** A flag that may be given several times. */
export function listFlag(help: string) {
  return { kind: 'list', help } as const
}

export function switchFlag(help: string) {
  return { kind: 'switch', help } as const
}

export type Flags = Readonly<Record<string, Flag>>

/** The texts typed for these flags. */
export type FlagsOf<F extends Flags> = { readonly [Name in keyof F]?: FlagValue<F[Name]> | undefined }
