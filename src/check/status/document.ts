import { coverageOf, endOf } from '../../model/run.ts'
import type { JobFacts, RunFacts, StatusFacts } from '../../unattended/status/facts.ts'
import { daysLeft, oncePerCause, problemsOf, spentPerDay, worstLevel } from '../../unattended/status/judge.ts'
import { isRetired } from '../../unattended/status/judge-job.ts'
import { levels } from '../../unattended/status/problem.ts'

export type StatusDocument = ReturnType<typeof statusDocument>
export type JobDocument = StatusDocument['jobs'][number]

/** What `status --json` prints. Instants are ISO 8601 in UTC, credits whole numbers, coverage a part of 1. */
export function statusDocument(facts: StatusFacts) {
  const { now, money, messages, database } = facts
  const problems = problemsOf(facts)
  const levelOf = (job: string) => worstLevel(problems.filter((one) => one.job === job))
  const jobs = facts.jobs
    .filter((job) => !isRetired(job, now))
    .map((job) => ({ job: job.job, level: levelOf(job.job), ...jobPart(job) }))
  const days = daysLeft(money, now)
  return {
    at: instant(now),
    level: worstLevel(problems),
    database: database.isMissing ? null : database.path,
    jobs: levels.flatMap((level) => jobs.filter((one) => one.level === level)),
    problems: oncePerCause(problems).map(({ level, job, kind, text, jobs: stopped }) => ({
      level,
      job,
      kind,
      text,
      ...(stopped === undefined ? {} : { jobs: stopped }),
    })),
    balance:
      money.balance === null
        ? null
        : {
            credits: money.balance.credits,
            read_at: instant(money.balance.readAt),
            per_day: Math.round(spentPerDay(money, now)),
            days_left: days === null ? null : Math.floor(days),
          },
    spent_today: money.spentToday,
    spent_this_month: money.spentThisMonth,
    unexplained: money.unexplained,
    messages: { waiting: messages.waiting.messages, dead: messages.dead.messages },
  }
}

function jobPart(job: JobFacts) {
  const { file, timezone, schedule, every, freshness, last, good, isRunning, nextSlot, slot, alerts } = job
  const { pausedAt } = job
  return {
    file: file.path,
    timezone,
    schedule,
    every,
    running: isRunning,
    paused_at: pausedAt === null ? null : instant(pausedAt),
    last_good_run: good === null ? null : runPart(good),
    last_run: last === null ? null : { ...runPart(last), finish_reason: last.finishReason },
    next_slot: nextSlot === null ? null : instant(nextSlot),
    last_slot:
      slot === null
        ? null
        : { at: instant(slot.slotAt), outcome: slot.outcome, reason: slot.reason, run: slot.runId },
    freshness_of_runs:
      freshness === null
        ? null
        : { warn_after_ms: freshness.warnAfterMs, error_after_ms: freshness.errorAfterMs },
    spent_today: job.spentToday,
    spent_this_month: job.spentThisMonth,
    open_alerts: alerts.map(({ id, when, text, openedAt, mutedUntil }) => ({
      id,
      when,
      text,
      opened_at: instant(openedAt),
      muted_until: mutedUntil === null ? null : instant(mutedUntil),
    })),
  }
}

function runPart(run: RunFacts) {
  const { planned, done, failed, pending } = run.tasks
  return {
    run: run.run,
    started_at: instant(run.startedAt),
    ended_at: run.finishedAt === null ? null : instant(endOf(run)),
    coverage: coverageOf(run.tasks),
    tasks: { planned, done, failed, pending },
    credits: run.spent,
  }
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
