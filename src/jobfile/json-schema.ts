import * as z from 'zod'
import { strict } from './issues.ts'
import { fileSchema, looseJobSchema, querySchema, textSchema } from './schema.ts'
import { workspaceSchema } from './workspace.ts'

/*
 * JSON Schemas (draft 7) of the YAML files, for completion and checks in editors. The build makes them: in its place the program has
 * this file with both as they are.
 */

export function jobFileJsonSchema(): object {
  const queries = z
    .array(z.union([textSchema, querySchema, fileSchema]))
    .min(1)
    .describe('What is searched for: texts, maps with more about one text, or CSV files')
  return z.toJSONSchema(strict({ ...looseJobSchema.shape, queries }), { io: 'input', target: 'draft-7' })
}

export function workspaceJsonSchema(): object {
  return z.toJSONSchema(workspaceSchema, { io: 'input', target: 'draft-7' })
}
