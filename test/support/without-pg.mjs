import module from 'node:module'

/** Loaded before the program: the package `pg` is as if it were not installed. */
const { _resolveFilename: resolve } = module
module._resolveFilename = (name, ...more) => {
  if (name === 'pg') throw Object.assign(new Error("Cannot find module 'pg'"), { code: 'MODULE_NOT_FOUND' })
  return resolve(name, ...more)
}
