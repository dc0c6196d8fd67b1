import { billableOperations } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { checkParam, type Param, type ParamValue, type Style } from '../catalog/param.ts'
import { nearest } from '../words.ts'
import { type Mistake, quoted, type Read } from './problem.ts'
import { unclean } from './values.ts'

/** The parameters of all operations that a job can ask for. */
export const paramNames: ReadonlySet<string> = new Set(
  billableOperations.flatMap(({ params }) => Object.keys(params)),
)

/** The style in which an operation is called when the job asks for `wanted`. */
export function styleOf(operation: BillableOperation, wanted: Style): Style {
  return operation.styles.includes(wanted) ? wanted : (operation.styles[0] ?? 'get')
}

/** The parameter of that name, where the operation has it in the style of the job. */
export function paramOf(operation: BillableOperation, name: string, wanted: Style): Param | undefined {
  const param = Object.hasOwn(operation.params, name) ? operation.params[name] : undefined
  return param?.styles?.includes(styleOf(operation, wanted)) === false ? undefined : param
}

const notParams: Readonly<Record<string, string>> = {
  query: "write the text under 'queries:'",
  page: "use 'depth:' or 'pages:'",
  async: "use 'async: always' among the settings",
}

/** Why none of the operations takes a parameter; null where one does. */
export function misfit(name: string, operations: readonly BillableOperation[], style: Style): Mistake | null {
  if (operations.some((operation) => paramOf(operation, name, style) !== undefined)) return null
  const hint = Object.hasOwn(notParams, name) ? notParams[name] : undefined
  if (hint !== undefined) return { what: `${quoted(name)} is not a parameter to set`, instead: hint }
  const other: Style = style === 'get' ? 'post' : 'get'
  const otherStyle = operations.find(
    (operation) => operation.styles.includes(other) && paramOf(operation, name, other) !== undefined,
  )
  if (otherStyle !== undefined)
    return {
      what: `${otherStyle.name} has '${name}' in the ${other} style only`,
      instead: `write 'style: ${other}', or leave '${name}' out`,
    }
  const names = operations.flatMap((operation) =>
    Object.keys(operation.params).filter((param) => paramOf(operation, param, style) !== undefined),
  )
  const near = nearest(name, names)
  const list = operations.map((operation) => operation.name)
  const what = `${list.join(' and ')} ${list.length === 1 ? 'has' : 'have'} no parameter ${quoted(name)}`
  if (near !== null) return { what, instead: `write '${near}'` }
  if (names.length === 0) return { what, instead: 'leave it out' }
  return { what, instead: `write one of ${[...new Set(names)].join(', ')}` }
}

/** Checks the text of a parameter; `what` of a mistake begins with the name. */
export function paramValue(param: Param, name: string, text: string): Read<ParamValue> {
  const dirty = unclean(text, false)
  if (dirty !== null) return { what: `${name} ${dirty.what}`, instead: dirty.instead }
  const checked = checkParam(param, text)
  if ('value' in checked) {
    const instead = param.unknownCode?.(text) ?? null
    return instead === null ? checked : { what: `${name} cannot be ${quoted(text)}`, instead }
  }
  const end = checked.problem.lastIndexOf('; ')
  return { what: `${name} ${checked.problem.slice(0, end)}`, instead: checked.problem.slice(end + 2) }
}
