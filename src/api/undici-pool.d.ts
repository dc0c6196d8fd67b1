/**
 * The class that undici's index names Pool. All that the index loads beside it takes twice as long, and gives its
 * instances more methods than these.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool as Whole } from 'undici'

  type Pool = Pick<Whole, 'destroy' | 'dispatch'>
  const Pool: new (...options: ConstructorParameters<typeof Whole>) => Pool
  export default Pool
}
