/** Rows of a statement, with a value for each of its parameters. */
export type Ask = (sql: string, ...values: readonly unknown[]) => readonly unknown[]

/** Tables that grow with every call, or with every result. */
const large: ReadonlySet<string> = new Set([
  ...['items', 'dated_details', 'image_details', 'texts', 'links', 'answers_', 'raw_answers'],
  ...['tasks_', 'calls_', 'deliveries', 'call_deliveries', 'observations', 'run_queries', 'rank_counts_'],
])

/** Whoever goes through all of these goes through what belongs to each of them, where a large table is read, too. */
const owners: ReadonlySet<string> = new Set(['runs_', 'queries'])

interface Step {
  readonly addr: number
  readonly opcode: string
  readonly p1: number
  readonly p2: number
  readonly p3: number
}

/** Tables and their indexes, but for those that hold a few rows of a table only. */
const ofWholeTables = `SELECT rootpage AS root, tbl_name AS name FROM sqlite_schema
  WHERE type = 'table' OR type = 'index' AND coalesce(sql, '') NOT LIKE '% where %'`

/**
 * Tables that SQLite would read from end to end for a statement, whole or by an index of theirs. So says the program
 * that it makes of it, in which a scan goes to the first entry, or the last, and from there to each next one.
 */
export function fullScans(ask: Ask, sql: string): readonly string[] {
  const schema = ask(ofWholeTables) as readonly { readonly root: number; readonly name: string }[]
  const tables = new Map(schema.map(({ root, name }) => [root, name]))
  const steps = ask(`EXPLAIN ${sql}`, ...valuesFor(sql)) as readonly Step[]
  return [...new Set(programs(steps).flatMap((program) => readWhole(program, tables)))]
}

/** Columns by which an index is read from a value on, or up to one, and by nothing before them; but for those of drafts. */
export function openRanges(ask: Ask, sql: string): readonly string[] {
  const plan = ask(`EXPLAIN QUERY PLAN ${sql}`, ...valuesFor(sql)) as readonly { readonly detail: string }[]
  return plan.flatMap(
    ({ detail }) => detail.match(/^SEARCH (?!staged_|lists_|asked|numbers).*\((\w+)[<>]/)?.[1] ?? [],
  )
}

/** The statement, then its triggers, each with cursors of its own. */
function programs(steps: readonly Step[]): readonly (readonly Step[])[] {
  const starts = steps.flatMap(({ addr }, index) => (addr === 0 ? [index] : []))
  return starts.map((start, index) => steps.slice(start, starts[index + 1]))
}

function readWhole(program: readonly Step[], tables: ReadonlyMap<number, string>): readonly string[] {
  const readsLarge = program.some((step) => isOpened(step) && large.has(tables.get(step.p2) ?? ''))
  return program
    .flatMap((step, index) =>
      step.opcode === 'Count' || isLoop(step, program.slice(index))
        ? [tableOf(step.p1, program.slice(0, index), tables)]
        : [],
    )
    .filter((name) => large.has(name) || (readsLarge && owners.has(name)))
}

/** Opened in the database itself: what is attached to it is a draft, which only its process sees. */
function isOpened({ opcode, p3: database }: Step): boolean {
  return (opcode === 'OpenRead' || opcode === 'OpenWrite') && database === 0
}

function isLoop({ opcode, p1 }: Step, after: readonly Step[]): boolean {
  if (opcode !== 'Rewind' && opcode !== 'Last') return false
  return after.some((step) => (step.opcode === 'Next' || step.opcode === 'Prev') && step.p1 === p1)
}

/** What a cursor is on: its number is used again for others, and for tables that are there for the statement alone. */
function tableOf(cursor: number, before: readonly Step[], tables: ReadonlyMap<number, string>): string {
  const opened = before.findLast(({ opcode, p1 }) => p1 === cursor && opcode.includes('Open'))
  return opened !== undefined && isOpened(opened) ? (tables.get(opened.p2) ?? '') : ''
}

function valuesFor(sql: string): readonly unknown[] {
  const named = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1])
  const unnamed = [...sql.matchAll(/\?/g)].map(() => 1)
  return named.length === 0 ? unnamed : [...unnamed, Object.fromEntries(named)]
}
