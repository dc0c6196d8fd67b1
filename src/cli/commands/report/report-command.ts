import { UsageError } from '../../../model/errors.ts'
import { type OptionSpecs, switchOption } from '../../../model/values.ts'
import type { Terminal } from '../../../output/terminal.ts'
import type { Command, TypedOptions } from '../../flags.ts'
import { report, reportFlags } from './report.ts'

const flags = {
  ...reportFlags,
  all: switchOption(
    'Every job of the database: a row each, and with --out a page with the report of each beside it',
  ),
} satisfies OptionSpecs

type ReportCommandFlags = TypedOptions<typeof flags> & { readonly job?: readonly string[] }

export const reportCommand = {
  flags,
  exits: [0, 1, 2, 3, 6],
  docs: 'docs/reports.md',
  examples: [
    ['report acme --period month', 'this month, compared with the day before it began'],
    ['report acme --compare 7d', 'compared with a week ago'],
    ['report acme --out acme.html', 'a page; also .pdf, .eml, .xlsx, .md, .csv, .json'],
    [
      'report acme --for client --out acme.html',
      'a page to send, with the logo and the words of report: in the job',
    ],
    ['report --all --out clients/', 'a page over all jobs, with the page of each beside it'],
    ["report acme --explain 'standing desk'", 'why a query has its ranks'],
  ],
  run: reportJobs,
} satisfies Command

/** `rankline report`: the report of one job, or the portfolio of several. */
async function reportJobs(
  { job: named = [], all = false, ...flags }: ReportCommandFlags,
  terminal: Terminal,
) {
  const [job] = named
  if (all && job !== undefined)
    throw new UsageError('--all takes every job of the database. Leave out the names of jobs, or --all')
  if (!all && job === undefined)
    throw new UsageError('Name a job or its file, or write --all for every job of the database')
  if (!all && named.length === 1) return await report({ ...flags, job: job as string }, terminal)
  const { portfolio } = await import('./portfolio.ts')
  return await portfolio(all ? null : named, flags, terminal)
}
