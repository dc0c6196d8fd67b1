import type { ReadResult } from '../model/values.ts'
import { scalar } from './issues.ts'

/** Reads the name of an environment variable. */
function variableName(text: string): ReadResult<string> {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return { value: text }
  // What stands here by mistake may be the secret itself, which no message repeats.
  return {
    message: 'is not the name of an environment variable',
    fix: 'put the secret into .env, and write the name of its variable here, such as SLACK_URL',
  }
}

/** The name of an environment variable that holds a secret. */
export const variable = scalar({ read: variableName, json: { type: 'string' } })
