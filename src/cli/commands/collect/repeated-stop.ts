import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { FinishReason } from '../../../model/run.ts'
import { isScreen, type Terminal } from '../../../output/terminal.ts'
import type { ListedRun } from '../../../run/run-jobs.ts'
import type { Store } from '../../../store/store.ts'

/** How far a run was: the same twice where a command changed nothing. */
type RunProgress = string

/**
 * Collects runs that cron starts every few minutes. A run that stopped before, and stops again for the same reason without any
 * progress, is reported once: the lines of the repetition are dropped, its exit code is not.
 *
 * @param stoppedBefore why continued runs had stopped, by run
 */
export async function reportStopOnce(
  store: Pick<Store, 'run' | 'tally'>,
  listed: readonly ListedRun[],
  stoppedBefore: ReadonlyMap<number, FinishReason | null>,
  terminal: Terminal,
  collect: (terminal: Terminal) => Promise<number>,
): Promise<number> {
  const isRepeatable = listed.every(({ run }) => (stoppedBefore.get(run.id) ?? null) !== null)
  if (!isRepeatable || isScreen(terminal) || terminal.event !== undefined) return await collect(terminal)
  const standing = async (reasonOf: (id: number) => Promise<FinishReason | null>): Promise<RunProgress> =>
    JSON.stringify(
      await Promise.all(
        listed.map(async ({ run: { id } }) => {
          const { tasks, spent, ambiguous } = await store.tally(id)
          return [id, await reasonOf(id), tasks.done, tasks.failed, spent, ambiguous]
        }),
      ),
    )
  const before = await standing(async (id) => stoppedBefore.get(id) ?? null)
  const held = holdBack(terminal)
  try {
    const code = await collect(held.terminal)
    const after = await standing(async (id) => (await store.run(id))?.finishReason ?? null)
    if (after !== before) await held.release()
    return code
  } catch (error) {
    await held.release()
    throw error
  }
}

/** A terminal that keeps what it is told until it is released. */
function holdBack(terminal: Terminal): { readonly terminal: Terminal; release(): Promise<void> } {
  const said: (() => Promise<void> | void)[] = []
  return {
    terminal: {
      ...terminal,
      log: (...line) => void said.push(() => terminal.log(...line)),
      write: async (...data) => void said.push(() => terminal.write(...data)),
    },
    release: async () => {
      for (const say of said) await say()
    },
  }
}

/** Lines about mistakes in job files: one that stays is said once. */
export interface SaidMistakes {
  /** Whether a line was not said before. */
  readonly isNew: (line: string) => boolean
  /** All files were read: what was not met this time is mended, and would be said again. */
  readonly end: () => void
}

/** What this process has said; with `known`, what others have said, too. */
export function saidInThisProcess(known: Iterable<string> = []): SaidMistakes {
  const said = new Set(known)
  return {
    isNew: (line) => {
      const isNew = !said.has(line)
      said.add(line)
      return isNew
    },
    end: () => {},
  }
}

/** What any process of cron has said: it stands in a file beside the database. Where that cannot be written, all is said again. */
export function saidBefore(database: string): SaidMistakes {
  const file = `${database}.mistakes`
  const known = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const lines = new Set<string>()
  const said = saidInThisProcess(known)
  return {
    isNew: (line) => {
      lines.add(line)
      return said.isNew(line)
    },
    end: () => {
      try {
        if (lines.size > 0) writeFileSync(file, [...lines].join('\n'))
        else rmSync(file, { force: true })
      } catch {
        // The folder of a database that is not there yet, for instance.
      }
    },
  }
}
