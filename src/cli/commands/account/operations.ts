import { operations as catalog } from '../../../catalog/index.ts'
import type { Operation } from '../../../catalog/operation.ts'
import { formatTable } from '../../../output/table.ts'
import type { Terminal } from '../../../output/terminal.ts'
import type { Command, TypedOptions } from '../../flags.ts'

// Apart from the other lookups, which open a database: without a driver for it the catalog is still shown.
export const operationsCommand = {
  flags: {},
  exits: [0, 1, 2],
  docs: 'docs/operations.md',
  examples: [
    ['operations', 'the catalog'],
    ['operations --json', 'for programs'],
  ],
  run: operations,
} satisfies Command

/** `rankline operations`: the catalog. Calls nothing. */
export async function operations(
  flags: TypedOptions<Record<never, never>>,
  terminal: Terminal,
): Promise<number> {
  if (flags.json === true) {
    await terminal.write(`${JSON.stringify(catalog.map(described), null, 2)}\n`)
    return 0
  }
  await terminal.write(
    formatTable(
      [
        { title: 'operation' },
        { title: 'credits', align: 'right' },
        { title: 'style' },
        { title: 'page size', align: 'right' },
        { title: 'what it is', shrinks: true, dropped: true },
        { title: 'parameters' },
      ],
      catalog.map((one) => [
        one.name,
        one.billable ? String(one.cost) : 'free',
        one.billable ? one.styles.join(', ') : 'get',
        pageSize(one),
        one.title,
        Object.keys(one.params).join(' '),
      ]),
      terminal.columns,
    ),
  )
  return 0
}

function pageSize(operation: Operation): string {
  if (!operation.billable || operation.paging === null) return 'one page'
  return operation.paging.pageSize === null ? 'not said' : String(operation.paging.pageSize)
}

function described(operation: Operation) {
  const { name, title, path, params, cost } = operation
  return {
    name,
    title,
    path,
    credits: cost,
    ...(operation.billable
      ? {
          engine: operation.engine,
          styles: operation.styles,
          post_path: operation.postPath ?? null,
          page_size: operation.paging?.pageSize ?? null,
          paged: operation.paging !== null,
        }
      : {}),
    exclusive: operation.exclusive ?? [],
    params: Object.entries(params).map(([param, { pattern, ...rest }]) => ({
      name: param,
      ...rest,
      ...(pattern === undefined ? {} : { form: pattern.words }),
    })),
  }
}
