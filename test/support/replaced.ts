import { syncBuiltinESMExports } from 'node:module'

/** Other functions in a module of Node, for those too that imported them by name, until it is disposed of. */
export function replaced<T extends object>(module: T, functions: Partial<T>): Disposable {
  const before = { ...module }
  const assign = (members: Partial<T>): void => {
    Object.assign(module, members)
    syncBuiltinESMExports()
  }
  assign(functions)
  return { [Symbol.dispose]: () => assign(before) }
}
