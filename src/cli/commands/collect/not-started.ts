import { resolve } from 'node:path'
import { alertSkippedJobs } from '../../../app/alerts/skipped.ts'
import { databasePath, type SettingFlags } from '../../../app/config.ts'
import { outgoing } from '../../../app/messages/outgoing.ts'
import { pingNotStarted, reasonOf } from '../../../app/messages/ping.ts'
import { busyExitCode, RanklineError, WrongClock } from '../../../model/errors.ts'
import { noFile } from '../../../model/job.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import { isScreen, type Terminal } from '../../../output/terminal.ts'

interface NotStartedFlags extends SettingFlags {
  readonly job: readonly string[]
  readonly 'allow-http'?: boolean | undefined
}

/** What a command says of the job files that it runs. */
export interface Beginning {
  /** The runs of these files begin, or need not. */
  readonly begin: (jobFiles: readonly string[]) => void
  /** Those of these files do not, for a reason of their own. */
  readonly refuse: (reasons: ReadonlyMap<string, string>) => void
}

/** Does the work of a command that runs job files. */
type Work = (terminal: Terminal, beginning: Beginning) => Promise<number>

/**
 * Tells the switches (`ping:`) of job files whose runs did not even begin that they failed: for mistakes in them, or for settings
 * with which nothing can run; and their channels, where alert rules ask for that. A process that only did not get its turn says nothing: another one is at work.
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
  const heard: Terminal = {
    ...terminal,
    log: (line, about) => {
      said.push(line)
      terminal.log(line, about)
    },
  }
  const tell = async (
    reason: string,
    isConcerned: (file: string) => boolean,
    alerts: 'alerts, too' | 'pings only' = 'alerts, too',
  ): Promise<void> => {
    const files = [...new Set(flags.job)].filter((file) => file !== noFile && !begun.has(resolve(file)))
    const means = {
      outgoing: outgoing(flags['allow-http'] === true),
      log: (line: string) => terminal.log(line),
    }
    try {
      await pingNotStarted(files.filter(isConcerned), reason, means)
      // Who looks at a screen has read it.
      if (!isScreen(terminal) && alerts === 'alerts, too')
        await alertSkippedJobs(files.filter(isConcerned), reason, {
          ...means,
          database: databasePath(flags),
          clock,
        })
    } catch (error) {
      // Where not even the settings can be read, that was said already.
      if (!(error instanceof RanklineError)) throw error
    }
  }
  try {
    const code = await work(heard, {
      begin: (files) => {
        for (const file of files) begun.add(resolve(file))
      },
      refuse: (reasons) => {
        for (const [file, reason] of reasons) refused.set(resolve(file), reason)
      },
    })
    if (code === 0) return code
    if (begun.size + refused.size === 0) await tell(said.join('\n'), () => true)
    else
      for (const file of flags.job) {
        const mistakes = said.filter((line) => line.startsWith(`${file}:`)).join('\n')
        const reason = refused.get(resolve(file)) ?? mistakes
        if (reason !== '') await tell(reason, (one) => one === file)
      }
    return code
  } catch (error) {
    const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
    const reason = [...said, reasonOf(error)].join('\n')
    // An alert would carry the wrong time.
    const alerts = error instanceof WrongClock ? 'pings only' : 'alerts, too'
    if (!isBusy && begun.size === 0) await tell(reason, () => true, alerts)
    throw error
  }
}
