import { register } from 'node:module'

/** Loaded before the program: the package `pg` is as if it were not installed. */
const hook = `export const resolve = (name, context, next) => {
  if (name === 'pg') throw Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
