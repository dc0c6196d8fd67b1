import pkg from '../package.json' with { type: 'json' }

/** Version of this program. */
export const version: string = pkg.version
