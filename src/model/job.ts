import type { Budget, PlainSettings } from './settings/job-settings.ts'
import type { Target } from './target.ts'

export type PagingPolicy = PlainSettings['paging']
export type AsyncPolicy = PlainSettings['async']

/** Everything that holds for a whole job; plain data, kept with each run of it. */
export interface JobSettings extends PlainSettings {
  readonly name: string
  /** Absolute path of the job file, or `noFile`. */
  readonly file: string
  /** Own targets and competitors, in the order of the file. */
  readonly targets: readonly Target[]
  /** Limits in credits; null is no limit. */
  readonly budget: Budget
}

/** Stands for the file of a job that came through standard input: no file has that absolute path. */
export const noFile = '-'

/** Runs of jobs that were removed are runs of a job of this name: what is left of them are their calls and credits. */
export const removedJob = '(removed)'

/** A mistake in a job file or in a flag: shown as `file:line:column: message; fix`. */
export interface Problem {
  /** File as the user named it, or the flag. */
  readonly where: string
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  readonly fix: string
}
