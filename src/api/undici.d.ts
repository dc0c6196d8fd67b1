/** A part of undici that is loaded alone: the whole takes three times as long. package.json keeps undici on one minor version. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
