/** A part of undici that is loaded alone: the whole takes three times as long. package.json keeps undici on one minor version. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}

/** What the pool connects with by itself. */
declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net'
  import type { buildConnector } from 'undici'
  export default function connectorOf(
    options: buildConnector.BuildOptions,
  ): (...given: Parameters<buildConnector.connector>) => Socket
}
