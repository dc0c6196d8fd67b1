import type { JobSettings } from '../../model/job.ts'
import { slotsBetween } from '../../schedule/slots.ts'
import { localTime } from '../../schedule/zone.ts'

/** When a job runs. */
export interface ListedSlot {
  readonly job: string
  /** Instant, ISO 8601, UTC. */
  readonly at: string
  /** The same instant as clocks of the zone show it, with their distance from UTC. */
  readonly local: string
  readonly zone: string
}

export interface SlotRange {
  /** Included; epoch ms. */
  readonly from: number
  /** Excluded; infinite where there is none. */
  readonly until: number
  /** Slots of each job at most. */
  readonly most: number
}

/** The slots of jobs in the order of time; those of one instant in the order of the jobs. */
export function* listSlots(jobs: readonly JobSettings[], range: SlotRange): Generator<ListedSlot> {
  const streams = jobs.map((job) => {
    const slots = slotsOf(job, range)
    return { job, slots, next: slots.next() }
  })
  for (;;) {
    const [earliest] = streams
      .filter(({ next }) => next.done !== true)
      .sort((a, b) => Number(a.next.value) - Number(b.next.value))
    if (earliest === undefined) return
    const { job, slots, next } = earliest
    yield listed(job, Number(next.value))
    earliest.next = slots.next()
  }
}

function* slotsOf({ schedule, timezone }: JobSettings, { from, until, most }: SlotRange): Generator<number> {
  if (schedule === null) return
  let left = most
  for (const slot of slotsBetween(schedule, timezone, from, until)) {
    if (left-- <= 0) return
    yield slot
  }
}

function listed({ name, timezone }: JobSettings, slot: number): ListedSlot {
  return { job: name, at: new Date(slot).toISOString(), local: localTime(slot, timezone), zone: timezone }
}
