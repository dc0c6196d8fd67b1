/** What undici's index names Pool; all that the index names beside it takes twice as long to load. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
