/** An option of a command, by the name as it is typed behind `--`: it takes a text, a text each time that it is given, or none. */
export interface OptionSpec {
  readonly kind: 'text' | 'list' | 'switch'
  readonly help: string
  /** One letter. */
  readonly alias?: string
  /** What can be written, where that is a short list. */
  readonly values?: readonly string[]
}

/** The text given for an option; numbers are parsed where they are used. */
export type OptionValue<F extends OptionSpec> = F extends { kind: 'switch' }
  ? boolean
  : F extends { kind: 'list' }
    ? readonly string[]
    : string

export function textOption(help: string) {
  return { kind: 'text', help } as const
}

/** An option that may be given several times. */
export function listOption(help: string) {
  return { kind: 'list', help } as const
}

export function switchOption(help: string) {
  return { kind: 'switch', help } as const
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** `max-outage` as a property: `maxOutage`. */
type PropertyOf<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<PropertyOf<Rest>>}`
  : Name

/** What was given for these options. */
export type OptionsOf<F extends OptionSpecs> = {
  readonly [Name in keyof F as PropertyOf<Name>]?: OptionValue<F[Name]> | undefined
}

export function propertyOf<Name extends string>(name: Name): PropertyOf<Name> {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()) as PropertyOf<Name>
}
