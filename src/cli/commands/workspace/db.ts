import { existsSync } from 'node:fs'
import { normaliserVersion } from '../../../catalog/answers.ts'
import { busyExitCode, RanklineError, UsageError } from '../../../model/errors.ts'
import { count, grouped, parseDuration, size } from '../../../model/text.ts'
import { systemClock, utcMinute } from '../../../model/time.ts'
import { type OptionSpecs, propertyOf, switchOption, textOption } from '../../../model/values.ts'
import { note, sanitize, statusLine, type Terminal } from '../../../output/terminal.ts'
import { clocks } from '../../../run/app.ts'
import { databaseFile } from '../../../run/config.ts'
import { backfillAndNotify, type Renormalised, renormalise } from '../../../run/derive.ts'
import { workspaces } from '../../../run/job-files.ts'
import { turns } from '../../../run/lock.ts'
import {
  inspect,
  needsMigration,
  refuseFolder,
  requireDatabase,
} from '../../../store/sqlite/connection/database.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { backUp, restore as putBack } from '../../../store/sqlite/maintenance/backup.ts'
import { checkDatabase } from '../../../store/sqlite/maintenance/check.ts'
import { type Room, shrink } from '../../../store/sqlite/maintenance/prune.ts'
import { openStore } from '../../../store/sqlite/open.ts'
import { buildTextIndex, dropTextIndex, textIndex } from '../../../store/sqlite/rankings/text-index.ts'
import { type Retained, retention } from '../../../unattended/scheduler/retention.ts'
import { findJob } from '../../arguments.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'

const works = { backup, restore, check, migrate, prune, index }
const flagsOfPrune = ['answers', 'results', 'dry-run', 'vacuum', 'trust-clock'] as const
const brokenExitCode = 3

const dbFlags = {
  answers: textOption('prune: drop stored bodies of answers older than this, for instance 90d'),
  results: textOption('prune: drop results older than this, for instance 2y; ranks stay'),
  'dry-run': switchOption('prune: show what would be dropped'),
  'trust-clock': switchOption('prune: count ages from now, also where nothing confirms the clock'),
  vacuum: switchOption('prune: rewrite the file, so that it becomes smaller'),
  drop: switchOption('index: drop the index of words'),
} satisfies OptionSpecs

type PruneFlags = TypedOptions<typeof dbFlags>
type DbFlags = PruneFlags & { readonly what: string; readonly file?: string }

export const dbCommand = {
  flags: dbFlags,
  words: Object.keys(works),
  exits: [0, 1, 2, 3, 6, 7],
  docs: 'docs/database.md',
  examples: [
    ['db backup acme-copy.db', 'a whole copy'],
    ['db restore acme-copy.db', 'puts it back; what it replaces is kept'],
    ['db prune --answers 90d --dry-run', 'how much old bodies take'],
    ['db index', 'makes the index of words for rankline find, or brings it up to date'],
  ],
  run: db,
} satisfies Command

/** `rankline db`: what keeps the database: copies, checks, and room. */
export async function db(flags: DbFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork('db', works, flags.what)
  if (what !== 'backup' && what !== 'restore' && flags.file !== undefined)
    throw new UsageError(`rankline db ${what} takes no '${flags.file}'. Name the database with --db`)
  const stray = flagsOfPrune.find((name) => flags[propertyOf(name)] !== undefined)
  if (what !== 'prune' && stray !== undefined)
    throw new UsageError(`rankline db ${what} takes no --${stray}. It belongs to: rankline db prune`)
  if (what !== 'index' && flags.drop !== undefined)
    throw new UsageError(`rankline db ${what} takes no --drop. It belongs to: rankline db index`)
  return await works[what](flags, terminal)
}

/** `rankline db backup`: a whole copy in a single file, also while another process collects. */
async function backup(flags: DbFlags, terminal: Terminal): Promise<number> {
  if (flags.file === undefined) throw new UsageError('Name the file for the copy: rankline db backup <file>')
  const { bytes, runs } = await backUp(databaseFile.path(flags), flags.file)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ file: flags.file, bytes, runs }, null, 2)}\n`
      : `Backed up to ${sanitize(flags.file)}: ${size(bytes)}, ${count(runs, 'run')}.\n`,
  )
  return 0
}

/** `rankline db restore`: a backup takes the place of the database, which is moved aside with all its files. */
async function restore(flags: DbFlags, terminal: Terminal): Promise<number> {
  if (flags.file === undefined) throw new UsageError('Name the backup: rankline db restore <file>')
  const database = databaseFile.path(flags)
  refuseFolder(database)
  using _turn = turnOf(database, 'a backup cannot take its place meanwhile. Let the other process finish')
  const stamp = new Date(systemClock.wall()).toISOString().slice(0, 19).replace(/[-:]/g, '')
  const { bytes, runs, before } = await putBack(flags.file, database, stamp)
  if (flags.json === true) {
    await terminal.write(`${JSON.stringify({ database, file: flags.file, bytes, runs, before }, null, 2)}\n`)
    return 0
  }
  await terminal.write(
    `${sanitize(database)} is ${sanitize(flags.file)} again: ${size(bytes)}, ${count(runs, 'run')}.\n`,
  )
  if (before !== null)
    terminal.log(
      `What was in its place is kept as ${sanitize(before)}. The backup lacks what was paid for since it was made: rankline runs --db ${sanitize(before)}`,
    )
  return 0
}

/** `rankline db check`: whether the file is whole, and says what it must; changes nothing. */
async function check(flags: DbFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  const { findings, openCalls, isDamaged, ...looked } = await checkDatabase(database)
  const whole = findings.length === 0
  if (flags.json === true)
    await terminal.write(
      `${JSON.stringify({ database, whole, ...looked, open_calls: openCalls, findings }, null, 2)}\n`,
    )
  else if (whole)
    await terminal.write(
      `${sanitize(database)} is whole: ${count(looked.runs ?? 0, 'run')}, ${count(looked.calls ?? 0, 'call')}, ${count(looked.answers ?? 0, 'answer')} checked.\n${openLine(openCalls ?? 0)}`,
    )
  else
    await terminal.write(
      `${[`${sanitize(database)} is not whole.`, ...findings.map(findingLine), advice(isDamaged)].join('\n')}\n`,
    )
  return whole ? 0 : brokenExitCode
}

function findingLine({
  what,
  count: n,
  first,
}: Awaited<ReturnType<typeof checkDatabase>>['findings'][number]): string {
  return `  ${what}: ${grouped(n)}${first === null ? '' : `, first ${sanitize(first)}`}.`
}

/** `rankline db migrate`: brings a database of an older rankline up to date, as every command that writes does. */
async function migrate(flags: DbFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  requireDatabase(database)
  const isOld = needsMigration(database)
  if (isOld) {
    using _turn = turnOf(database, 'it cannot be changed meanwhile. Let the other process finish')
    await (await openStore(database))[Symbol.asyncDispose]()
  }
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ database, migrated: isOld }, null, 2)}\n`
      : `${sanitize(database)} ${isOld ? 'is brought up to date' : 'is up to date'}.\n`,
  )
  return 0
}

/** `rankline db index`: the index of words in what is stored, which `rankline find` needs. */
async function index(flags: DbFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  requireDatabase(database)
  if (needsMigration(database))
    throw new UsageError(
      `${database} belongs to an older rankline. Bring it up to date first: rankline db migrate`,
    )
  const before = await inspect(database, (db) => textIndex(db).state())
  if (flags.drop === true) {
    const bytes = before.exists ? await dropTextIndex(database) : 0
    await terminal.write(
      flags.json === true
        ? `${JSON.stringify({ database, exists: false, dropped_bytes: bytes }, null, 2)}\n`
        : before.exists
          ? `The index of words is dropped; ${size(bytes)} of the file are free for new answers.\n`
          : 'There is no index of words.\n',
    )
    return 0
  }
  if (before.missing > 0)
    note(
      terminal,
      `${count(before.missing, 'text')} to index, which takes about ${size(before.missingBytes)} more than the ${size(before.bytes)} of the index now.`,
    )
  using turn = turns.tryCollector(databaseLock(database))
  const built = await buildTextIndex(database, {
    alone: turn !== null,
    progress: (done) => terminal.status?.(`indexed ${grouped(done)} of ${grouped(before.missing)}`),
  })
  terminal.status?.('')
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ database, exists: true, indexed: built.indexed, added: built.indexed - before.indexed, bytes: built.bytes }, null, 2)}\n`
      : `The index has the words of ${count(built.indexed, 'text')} and takes ${size(built.bytes)}. It does not follow by itself: run this again after new answers.\n`,
  )
  return 0
}

/** Calls in flight are not damage. */
function openLine(calls: number): string {
  if (calls === 0) return ''
  const have = calls === 1 ? 'has' : 'have'
  return `${count(calls, 'call')} ${have} no result yet: in flight now, or left by a process that died. The next run counts those left as ambiguous.\n`
}

function advice(isDamaged: boolean): string {
  const backup = 'A backup lacks what was paid for since it was made'
  return isDamaged
    ? `Copy the file and its -wal before anything else. ${backup}: save first what can still be read, with: sqlite3 <copy> .recover | sqlite3 saved.db`
    : `Everything else is intact, and rankline can continue with the file. ${backup}: take from it only what is broken here`
}

/** `rankline db prune`: drops what is older than it is to be kept, by flags or by rankline.yaml; ranks stay. */
export async function prune(flags: PruneFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  const now = await timeOfPruning(database, flags, terminal)
  const keep = await keepOf(flags)
  if (flags.dryRun === true) {
    requireDatabase(database)
    if (keep.resultsMs !== null && needsMigration(database))
      throw new UsageError(
        `${database} belongs to an older rankline. Bring it up to date first: rankline db migrate`,
      )
    await printPruned(flags, terminal, await retention.count(database, keep, now), null)
    return 0
  }
  // Taken before anything is dropped: the whole command is refused, or none of it.
  using turn = turnFor(database, flags)
  const dropped = await retention.apply(database, keep, now, turn !== null)
  const room = flags.vacuum === true ? await shrink(database) : dropped.room
  if (keep.resultsMs !== null && dropped.swept === null)
    terminal.log('Texts that nothing names any more stay until no other process is collecting.')
  await printPruned(flags, terminal, dropped, room)
  return 0
}

/** The time from which ages count: now, unless the clock may be wrong and nothing says that it is right. */
async function timeOfPruning(database: string, flags: PruneFlags, { log }: Terminal): Promise<number> {
  const now = systemClock.wall()
  if (flags.trustClock === true || !existsSync(database)) return now
  const known = await retention.timeOfAges(database, now)
  if (known === now) return now
  const aheadMs = await clocks.serviceAhead(flags)
  clocks.judge(aheadMs, { now, options: flags, log })
  if (aheadMs !== null) return now
  log(
    `Ages count from ${utcMinute(known)} UTC, when the last run ended: nothing has confirmed the clock since. To count from now, add --trust-clock`,
  )
  return known
}

/** How long to keep what: as flags say, else as rankline.yaml of the working folder does. */
async function keepOf({ answers, results, vacuum }: PruneFlags) {
  if (answers !== undefined || results !== undefined)
    return { answersMs: readAge('--answers', answers), resultsMs: readAge('--results', results) }
  const { keep } = await workspaces.open('.')
  if (keep.answersMs !== null || keep.resultsMs !== null || vacuum === true) return keep
  throw new UsageError(
    'Name the age from which stored bodies are dropped: rankline db prune --answers 90d, or keep: { answers: 90d } in rankline.yaml',
  )
}

function readAge(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const age = parseDuration(text, 'mhdwy')
  if (age !== null && age > 0) return age
  throw new UsageError(`${flag} cannot be '${text}'; write a span such as 12h, 90d, 26w or 2y`)
}

/** While another process collects, the file cannot be rewritten (it would wait until it fails) or migrated. */
function turnFor(database: string, { vacuum = false }: PruneFlags): Disposable | null {
  requireDatabase(database)
  if (vacuum)
    return turnOf(
      database,
      '--vacuum needs it alone. Nothing was dropped; let it finish, or leave --vacuum out: the room is used again in any case',
    )
  return needsMigration(database)
    ? turnOf(
        database,
        'it must be brought up to date first. Nothing was dropped; let the other process finish',
      )
    : null
}

/** The turn at a database, at once or not at all. */
function turnOf(database: string, why: string): Disposable {
  const turn = turns.tryCollector(databaseLock(database))
  if (turn !== null) return turn
  throw new RanklineError(
    `Another process on this machine is collecting into this database, and ${why}`,
    busyExitCode,
  )
}

async function printPruned(
  flags: PruneFlags,
  terminal: Terminal,
  { bodies, results, swept }: Retained,
  room: Room | null,
): Promise<void> {
  const dry = room === null
  if (flags.json === true) {
    const file = dry ? {} : { file_bytes: room.fileBytes, free_bytes: room.freeBytes }
    const ofBodies = bodies === null ? {} : { bodies: bodies.bodies, bytes: bodies.bytes, kept: bodies.kept }
    const ofResults =
      results === null
        ? {}
        : {
            results: {
              answers: results.answers,
              results: results.results,
              kept: results.kept,
              ...(swept === null ? {} : { texts: swept.texts, links: swept.links }),
            },
          }
    await terminal.write(`${JSON.stringify({ dry_run: dry, ...ofBodies, ...ofResults, ...file }, null, 2)}\n`)
    return
  }
  const verb = dry ? 'Would drop' : 'Dropped'
  if (bodies !== null) {
    await terminal.write(
      `${verb} ${count(bodies.bodies, 'stored body', 'stored bodies')}, ${size(bodies.bytes)}.\n`,
    )
    if (bodies.kept > 0)
      terminal.log(`${count(bodies.kept, 'body', 'bodies')} of that age stay: a run may still need them.`)
  }
  if (results !== null) {
    await terminal.write(
      `${verb} ${count(results.results, 'result')} of ${count(results.answers, 'answer')}; ranks stay.\n`,
    )
    if (results.kept > 0)
      terminal.log(`${count(results.kept, 'answer')} of that age keep theirs: a run may still need them.`)
  }
  if (!dry) terminal.log(roomLine(room))
}

function roomLine({ fileBytes, freeBytes }: Room): string {
  if (freeBytes === 0) return `The file has ${size(fileBytes)}.`
  return `The file keeps its ${size(fileBytes)}; ${size(freeBytes)} of it are free for new answers. --vacuum gives them back to the disk.`
}

const renormaliseFlags = {
  ...sharedFlags.wait,
  outdated: switchOption('Only what an older normaliser derived'),
} satisfies OptionSpecs

type RenormaliseFlags = TypedOptions<typeof renormaliseFlags> & { readonly job?: string }

export const renormaliseCommand = {
  flags: renormaliseFlags,
  exits: [0, 1, 2, 3, 6, 7],
  docs: 'docs/database.md',
  examples: [
    ['renormalise', 'all jobs'],
    ['renormalise --outdated', 'only what an older version derived'],
  ],
  run: renormaliseAnswers,
} satisfies Command

/** `rankline renormalise`: derives all results again from stored answers; calls nothing. */
async function renormaliseAnswers(flags: RenormaliseFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  const notify = (line: string): void => note(terminal, line)
  using turn = turns.wait([databaseLock(database)], flags.wait, notify)
  requireDatabase(database)
  await turn.acquire()
  await using store = await openStore(database)
  const named = flags.job === undefined ? null : await findJob(store, { ...flags, job: flags.job }, terminal)
  if (named === null && flags.job !== undefined) return 2
  if (named?.settings) await backfillAndNotify(store, named.settings, null, notify)
  const line = statusLine<Renormalised>(
    terminal,
    systemClock,
    ({ answers, queries }) =>
      `${count(answers, 'answer')} of ${count(queries, 'query', 'queries')} derived again`,
  )
  const which = { unless: flags.outdated === true ? normaliserVersion : null, job: named?.name ?? null }
  const { unreadableRuns, ...done } = await renormalise(store, which, line.show)
  if (which.unless === null) await store.invalidateRankCounts(which.job)
  await store.countRanks(Number.POSITIVE_INFINITY)
  line.end()
  await terminal.write(
    flags.json === true ? `${JSON.stringify(documentOf(done), null, 2)}\n` : `${sentence(done)}\n`,
  )
  if (done.unreadable > 0)
    terminal.log(
      `${count(done.unreadable, 'answer')} cannot be read; what was derived from them before stays. ${whereUnreadable(unreadableRuns)}`,
    )
  return 0
}

const namedRuns = 5

function whereUnreadable(runs: readonly number[]): string {
  const last = runs.at(-1)
  if (runs.length === 1) return `See: rankline runs ${last}`
  const more = runs.length > namedRuns ? ` and ${grouped(runs.length - namedRuns)} before` : ''
  return `They are of the runs ${runs.slice(-namedRuns).join(', ')}${more}. See each, as in: rankline runs ${last}`
}

function documentOf({
  unreadable,
  unusable,
  malformed,
  repaired: mended,
  failed,
  changed,
  ...counted
}: Renormalised) {
  return {
    normaliser: normaliserVersion,
    ...counted,
    malformed_items: malformed,
    unreadable_answers: unreadable,
    changed_observations: changed,
    mended_tasks: mended,
    ...(unusable === 0 ? {} : { unusable_answers: unusable, failed_tasks: failed }),
  }
}

function sentence({ answers, results, malformed, changed, repaired: mended, failed }: Renormalised): string {
  if (answers + failed === 0) return 'Nothing to derive again.'
  const parts = [
    `${count(answers, 'answer')} derived again by normaliser ${normaliserVersion}: ${count(results, 'result')}`,
    malformed === 0 ? null : count(malformed, 'malformed item'),
    changed === 0 ? 'no observation changed' : `${count(changed, 'observation')} changed`,
    mended === 0 ? null : `${count(mended, 'failed task')} done now`,
    failed === 0 ? null : `${count(failed, 'task')} failed now, because the answer says nothing`,
  ]
  return `${parts.filter((part) => part !== null).join(', ')}. Nothing was spent.`
}
