import { type Attributes, html } from '../dom.ts'

export type Option = readonly [value: string, text: string]

export interface SelectField {
  readonly element: HTMLElement
  readonly select: HTMLSelectElement
  /** Whether there is anything to choose. */
  readonly useful: boolean
}

/** A select with its name above it. */
export function field(name: string, label: string, options: readonly Option[]): SelectField {
  const id = `choose-${name}`
  const select = html('select', { id }, ...optionsOf(options))
  const element = html('div', `field choose-${name}`, html('label', { for: id }, label), select)
  return { element, select, useful: options.length > 2 }
}

export function optionsOf(options: readonly Option[]): readonly HTMLOptionElement[] {
  return options.map(([value, text]) => html('option', { value }, text))
}

/** An input with its name above it. */
export function inputField(
  name: string,
  label: string,
  attributes: Attributes,
): { readonly element: HTMLElement; readonly input: HTMLInputElement } {
  const id = `choose-${name}`
  const input = html('input', { id, ...attributes })
  return { element: html('div', `field choose-${name}`, html('label', { for: id }, label), input), input }
}
