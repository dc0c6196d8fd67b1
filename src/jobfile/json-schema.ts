import * as z from 'zod'
import { strict } from './issues.ts'
import { schemas } from './schema.ts'
import { workspaceSchema } from './workspace.ts'

/*
 * JSON Schemas (draft 7) of the YAML files, for completion and checks in editors. The build makes them: in its place the program has
 * this file with both as they are.
 */

export function jobFileJsonSchema(): object {
  const queries = z
    .array(z.union([schemas.text(), schemas.query.whole(), schemas.file.whole()]))
    .min(1)
    .describe('What is searched for: texts, maps with more about one text, or CSV files')
  return draft7(strict({ ...schemas.looseJob.whole().shape, queries }))
}

export function workspaceJsonSchema(): object {
  const defaults = schemas.defaults
    .whole()
    .optional()
    .describe('Settings of job files; what a job sets itself wins, and maps such as params are joined')
  return draft7(strict({ ...workspaceSchema.whole().shape, defaults }))
}

function draft7(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
}
