import { hashText, mix } from './world/hash.ts'

/** How a job ends; `stuck` never ends. */
type SandboxJobEnd = 'complete' | 'fail' | 'stuck'

interface SandboxJob {
  readonly id: string
  /** Monotonic ms. */
  readonly endsAt: number
  readonly end: SandboxJobEnd
  readonly result: unknown
  readonly onEnd: (end: SandboxJobEnd) => void
  ended: boolean
}

/** Asynchronous jobs. They end by time, even if they are not polled. Ids follow from the seed; `clock` is monotonic ms. */
export function createJobs(seed: string, clock: () => number) {
  const jobs = new Map<string, SandboxJob>()
  let waiting: SandboxJob[] = []
  const settle = (): void => {
    const now = clock()
    const due = waiting.filter((job) => job.endsAt <= now).sort((a, b) => a.endsAt - b.endsAt)
    if (due.length === 0) return
    waiting = waiting.filter((job) => job.endsAt > now)
    for (const job of due) {
      job.ended = true
      job.onEnd(job.end)
    }
  }
  return {
    /** Queues a job; `onEnd` is called once, when the job ends. */
    accept(job: Pick<SandboxJob, 'endsAt' | 'end' | 'result' | 'onEnd'>): string {
      const hash = mix(hashText(seed), jobs.size)
      const id = `job_${hash.toString(16).padStart(8, '0')}${jobs.size.toString(16).padStart(6, '0')}`
      const queued = { ...job, id, ended: false }
      jobs.set(id, queued)
      if (job.end !== 'stuck') waiting.push(queued)
      return id
    },
    /** Ends the jobs whose time has come. */
    settle,
    /** The answer to a poll; undefined for an unknown id. */
    poll(id: string) {
      settle()
      const job = jobs.get(id)
      if (job === undefined) return undefined
      if (!job.ended) return { job_id: id, status: 'processing' }
      if (job.end === 'fail') return { job_id: id, status: 'failed', error: 'Internal Error' }
      return { job_id: id, status: 'completed', result: job.result }
    },
  }
}
