import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { FinishReason, Run } from '../../src/model/run.ts'
import { decideResume } from '../../src/run/plan-jobs.ts'
import { noon } from '../store/build.ts'
import { aRun } from '../support/tasks.ts'
import { testTable } from '../support/test-table.ts'
import { aJob, aTarget } from './build.ts'

const today = '2026-03-02'
const yesterday = '2026-03-01'

interface Latest {
  readonly group?: number
  readonly date?: string
  /** Null for a run whose process died. */
  readonly ended: FinishReason | null
}

const watched: Partial<JobSettings> = { targets: [aTarget()] }

/** What becomes of jobs `a`, `b` … whose latest runs (numbered from 1) are these, and which runs are closed. */
async function courseOf(
  jobs: readonly { readonly settings?: Partial<JobSettings>; readonly latest: Latest | null }[],
  { fresh = false, change = true } = {},
) {
  const settings = jobs.map(({ settings }, index) => aJob({ ...settings, name: 'abcdef'[index] as string }))
  const runs = jobs.map(({ latest }, index): Run | null =>
    latest === null
      ? null
      : aRun({
          id: index + 1,
          groupId: latest.group ?? 1,
          job: 'abcdef'[index] as string,
          settings: settings[index] as JobSettings,
          date: latest.date ?? today,
          finishedAt: latest.ended === null ? null : noon,
          finishReason: latest.ended,
        }),
  )
  const tracked = ({ name, targets }: JobSettings) => ({ name, tracked: targets.length > 0 })
  const closed: number[] = []
  const store = {
    latestRun: async (job: string) => runs.find((run) => run?.job === job) ?? null,
    closeRun: async (id: number, now: number) => {
      expect(now).toBe(noon)
      closed.push(id)
    },
  }
  const dates = jobs.map(() => today)
  const courses = await decideResume(store, settings.map(tracked), { dates, fresh, now: noon }, change)
  return {
    course: courses.map((course) => ('run' in course ? `${course.do} ${course.run.id}` : course.do)),
    closed,
  }
}

const unfinished: readonly (FinishReason | null)[] = [
  'budget',
  'balance',
  'quota',
  'auth',
  'unavailable',
  'interrupted',
  'crashed',
  null,
]

describe('one job', () => {
  test('that never ran begins', async () => {
    expect(await courseOf([{ latest: null }])).toEqual({ course: ['begin'], closed: [] })
  })

  testTable<FinishReason>(['completed', 'completed_with_failures'])(
    'whose last run ended `%s` begins anew, and that run is left alone',
    async (ended) => {
      expect(await courseOf([{ latest: { ended } }])).toEqual({ course: ['begin'], closed: [] })
      const watching = await courseOf([{ settings: watched, latest: { ended, date: yesterday } }])
      expect(watching).toEqual({ course: ['begin'], closed: [] })
    },
  )

  testTable(unfinished)('whose last run ended `%s` is continued', async (ended) => {
    expect(await courseOf([{ latest: { ended } }])).toEqual({ course: ['continue 1'], closed: [] })
  })

  testTable(unfinished)(
    'whose last run ended `%s` is continued on another day, too, where it has no targets',
    async (ended) => {
      const { course, closed } = await courseOf([{ latest: { ended, date: yesterday } }])
      expect({ course, closed }).toEqual({ course: ['continue 1'], closed: [] })
    },
  )

  testTable(unfinished)(
    'whose last run ended `%s` is continued on the same local day where it has targets',
    async (ended) => {
      const { course, closed } = await courseOf([{ settings: watched, latest: { ended } }])
      expect({ course, closed }).toEqual({ course: ['continue 1'], closed: [] })
    },
  )

  testTable(unfinished)(
    'whose last run ended `%s` is closed as it stands and begins anew on another day where it has targets',
    async (ended) => {
      const jobs = [{ settings: watched, latest: { ended, date: yesterday } }]
      expect(await courseOf(jobs)).toEqual({ course: ['begin'], closed: [1] })
    },
  )

  testTable(unfinished)(
    'whose last run ended `%s` is closed and begins anew where that is asked for',
    async (ended) => {
      expect(await courseOf([{ latest: { ended } }], { fresh: true })).toEqual({
        course: ['begin'],
        closed: [1],
      })
    },
  )

  testTable(unfinished)(
    'whose last run ended `%s` is only looked at where nothing may change',
    async (ended) => {
      const jobs = [{ settings: watched, latest: { ended, date: yesterday } }]
      expect(await courseOf(jobs, { change: false })).toEqual({ course: ['begin'], closed: [] })
    },
  )
})

describe('several jobs', () => {
  const done: Latest = { ended: 'completed' }
  const open: Latest = { ended: 'interrupted' }

  test('that all finished begin anew', async () => {
    expect(await courseOf([{ latest: done }, { latest: done }])).toEqual({
      course: ['begin', 'begin'],
      closed: [],
    })
  })

  test('are one piece of work: while one is unfinished, those that finished are shown', async () => {
    const jobs = [
      { latest: done },
      { latest: open },
      { latest: { ended: 'completed_with_failures' as const } },
    ]
    expect(await courseOf(jobs)).toEqual({ course: ['show 1', 'continue 2', 'show 3'], closed: [] })
  })

  test('go on together where several are unfinished', async () => {
    const jobs = [{ latest: open }, { latest: { ended: null } }, { latest: done }]
    expect(await courseOf(jobs)).toEqual({ course: ['continue 1', 'continue 2', 'show 3'], closed: [] })
  })

  test('that finished in another piece of work begin anew', async () => {
    const jobs = [{ latest: { ...done, group: 1 } }, { latest: { ...open, group: 2 } }]
    expect(await courseOf(jobs)).toEqual({ course: ['begin', 'continue 2'], closed: [] })
  })

  test('of which one is new: it begins, the other goes on', async () => {
    expect(await courseOf([{ latest: open }, { latest: null }])).toEqual({
      course: ['continue 1', 'begin'],
      closed: [],
    })
  })

  test('begin anew together where the unfinished one can no longer be continued', async () => {
    const jobs = [
      { settings: watched, latest: { ...open, date: yesterday } },
      { settings: watched, latest: { ...done, date: yesterday } },
    ]
    expect(await courseOf(jobs)).toEqual({ course: ['begin', 'begin'], closed: [1] })
  })

  test('each have a day of their own', async () => {
    const jobs = [
      { settings: watched, latest: { ...open, date: yesterday } },
      { latest: { ...open, date: yesterday } },
    ]
    expect(await courseOf(jobs)).toEqual({ course: ['begin', 'continue 2'], closed: [1] })
  })

  test('all begin anew where that is asked for, and only the unfinished are closed', async () => {
    const jobs = [{ latest: done }, { latest: open }, { latest: null }]
    expect(await courseOf(jobs, { fresh: true })).toEqual({
      course: ['begin', 'begin', 'begin'],
      closed: [2],
    })
  })
})
