import { resolve } from 'node:path'
import { formatProblem } from '../../../jobfile/source.ts'
import { busyExitCode, RanklineError, WrongClock } from '../../../model/errors.ts'
import { noFile, type Problem } from '../../../model/job.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import { isScreen, type Terminal } from '../../../output/terminal.ts'
import { databasePath, type SettingFlags } from '../../../run/config.ts'
import { outgoing } from '../../../run/outgoing.ts'
import type { Hindrance } from '../../../unattended/alerts/judge.ts'
import { alertSkippedJobs, causeOfMistakes, causeOfSettings } from '../../../unattended/alerts/skipped.ts'
import { pingNotStarted, reasonOf } from '../../../unattended/messages/ping.ts'

interface NotStartedFlags extends SettingFlags {
  readonly job: readonly string[]
  readonly 'allow-http'?: boolean | undefined
}

/** What a command says of the job files that it runs. */
export interface JobFileStarts {
  /** The runs of these files begin, or need not. */
  readonly begin: (jobFiles: readonly string[]) => void
  /** Those of these files do not, for a reason of their own. */
  readonly refuse: (reasons: ReadonlyMap<string, string>) => void
  /** This file has mistakes, or `rankline.yaml` beside it. */
  readonly onMistakes: (file: string, mistakes: readonly Problem[]) => void
}

/** Does the work of a command that runs job files. */
type Work = (terminal: Terminal, beginning: JobFileStarts) => Promise<number>

/** Files that were not run, and why: what their switches are told, and what alerts name. */
interface NotRun {
  readonly file: string
  readonly reason: string
  readonly hindrance: Hindrance
}

/**
 * Tells the switches (`ping:`) of job files whose runs did not even begin that they failed: for mistakes in them, or for settings
 * with which nothing can run; and their channels, where alert rules ask for that. What kept several from running is told once of all,
 * and once more when it is over. A process that only did not get its turn says nothing: another one is at work.
 */
export async function reportNotStarted(
  flags: NotStartedFlags,
  terminal: Terminal,
  work: Work,
  clock: Clock = systemClock,
): Promise<number> {
  const said: string[] = []
  const begun = new Set<string>()
  const refused = new Map<string, string>()
  const mistaken = new Map<string, readonly Problem[]>()
  const heard: Terminal = {
    ...terminal,
    log: (line, about) => {
      said.push(line)
      terminal.log(line, about)
    },
  }
  const files = [...new Set(flags.job)].filter((file) => file !== noFile)
  const tell = async (
    notRun: readonly NotRun[],
    alerts: 'alerts, too' | 'pings only' = 'alerts, too',
  ): Promise<void> => {
    const means = {
      outgoing: outgoing(flags['allow-http'] === true),
      log: (line: string) => terminal.log(line),
    }
    try {
      await pingNotStarted(notRun, means)
      if (alerts === 'pings only') return
      // What stands on a screen was read.
      const skipped = isScreen(terminal) ? [] : notRun
      await alertSkippedJobs(
        {
          skipped: new Map(skipped.map(({ file, hindrance }) => [file, hindrance])),
          running: files.filter((file) => begun.has(resolve(file))),
        },
        { ...means, database: databasePath(flags), clock },
      )
    } catch (error) {
      // Where not even the settings can be read, that was said already.
      if (!(error instanceof RanklineError)) throw error
    }
  }
  /** What kept the other files from running; null where each had a reason of its own. */
  const notRun = (
    others: { readonly reason: string; readonly hindrance: Hindrance } | null,
  ): readonly NotRun[] =>
    files
      .filter((file) => !begun.has(resolve(file)))
      .flatMap((file): readonly NotRun[] => {
        const price = refused.get(resolve(file))
        if (price !== undefined) return [{ file, reason: price, hindrance: { kind: 'price', text: price } }]
        const mistakes = mistaken.get(resolve(file))
        if (mistakes !== undefined)
          return [
            { file, reason: mistakes.map(formatProblem).join('\n'), hindrance: causeOfMistakes(mistakes) },
          ]
        return others === null ? [] : [{ file, ...others }]
      })
  try {
    const code = await work(heard, {
      begin: (begin) => {
        for (const file of begin) begun.add(resolve(file))
      },
      refuse: (reasons) => {
        for (const [file, reason] of reasons) refused.set(resolve(file), reason)
      },
      onMistakes: (file, mistakes) => mistaken.set(resolve(file), mistakes),
    })
    // Without --skip-bad one mistake keeps all others from running.
    const isNothingRun = code !== 0 && begun.size + refused.size === 0
    const [first] = mistaken.values()
    const hindrance = first === undefined ? causeOfSettings(said.join('\n')) : causeOfMistakes(first)
    await tell(notRun(isNothingRun ? { reason: said.join('\n'), hindrance } : null))
    return code
  } catch (error) {
    const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
    if (!isBusy && begun.size === 0) {
      const reason = reasonOf(error)
      const others = { reason: [...said, reason].join('\n'), hindrance: causeOfSettings(reason) }
      // An alert would carry the wrong time.
      await tell(notRun(others), error instanceof WrongClock ? 'pings only' : 'alerts, too')
    }
    throw error
  }
}
