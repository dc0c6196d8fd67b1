import { busyExitCode, RanklineError } from '../../model/errors.ts'
import { type PingMeans, pingNotStarted, reasonOf } from '../messages/ping.ts'
import type { CollectDue } from './scheduler.ts'

/** Collects; where nothing could be done, the switches (`ping:`) of the jobs that were due are told so. */
export function withPings(collect: CollectDue, means: () => PingMeans): CollectDue {
  return async (forms, stop) => {
    try {
      return await collect(forms, stop)
    } catch (error) {
      const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
      const files = forms.map(({ path }) => path)
      if (!isBusy) await pingNotStarted(files, reasonOf(error), means())
      throw error
    }
  }
}
