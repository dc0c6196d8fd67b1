import type { Argv } from 'yargs'
import { listFlag, switchFlag, textFlag } from './command.ts'

/** Flags that several commands share, worded once. */

export const globalFlags = {
  db: { ...textFlag('Database; default: RANKLINE_DB, else data/rankline.db'), global: true },
  json: { ...switchFlag('Print JSON'), global: true },
  quiet: {
    ...switchFlag('Say only what is wrong: no progress, no notes, no summary of what went well'),
    global: true,
  },
  verbose: { ...switchFlag('Show every mistake of a job file, and stack traces'), global: true },
} as const

/** Shown below the help of every command. */
export const exitCodeHelp = `Exit codes:
  0 done · 1 a bug in rankline · 2 nothing ran: flags, settings or a job file are wrong
  3 done, but some tasks failed · 4 stopped for money: balance, budget or quota
  5 the key was refused · 6 the service, or room on the disk, is unavailable
  7 another process collects · 130, 143 interrupted
  After 4 to 7, 130 and 143 the same command goes on.`

export function serviceFlags(yargs: Argv): Argv {
  return yargs.options({
    'base-url': textFlag('Address of the service; default: RANKLINE_BASE_URL'),
    'api-key-file': textFlag('File that holds the API key; default: RANKLINE_API_KEY'),
    'allow-http': switchFlag('Allow an address that is not encrypted'),
    timeout: textFlag('Seconds until a call is given up [120]'),
  })
}

/** What a job file says of itself can be said, and overruled, by flags. */
export function jobFlags(yargs: Argv): Argv {
  return yargs.options({
    name: textFlag("Name of the job; default: the file's"),
    operation: listFlag('Operation of all queries, for instance alpha.search'),
    param: { ...listFlag('Parameter of all queries, for instance -p gl=us'), alias: 'p' },
    depth: textFlag('Results to look at, per query'),
    pages: textFlag('Pages to look at, per query'),
    paging: textFlag('all, until-found or smart'),
    until: textFlag('Whom until-found waits for: own or all'),
    'deep-every': textFlag('How often at least smart looks in depth for sites that are not found [7d]'),
    style: textFlag('get or post'),
    async: textFlag('auto, always or never, for alpha.images'),
    freshness: textFlag('Use stored answers younger than this, for instance 12h'),
    'strict-echo': switchFlag('Leave ranks unknown where an answer repeats another question than asked'),
    timezone: textFlag('Time zone of the days, for instance Europe/Paris'),
    target: listFlag('Site to track'),
    competitor: listFlag('Site to track that is not yours'),
    match: textFlag('How sites are matched: domain, host, prefix or url'),
    'max-credits': textFlag('Credits that a run may cost'),
    keep: textFlag('Credits of the balance that stay untouched'),
    fresh: switchFlag('Begin anew instead of going on with an unfinished run'),
  })
}

export function collectFlags(yargs: Argv): Argv {
  return yargs.options({
    concurrency: textFlag('Calls in the air at once; default: as the rate limit allows'),
    'max-outage': textFlag(
      'How long to wait for a service that is down [60s] or that refuses every call for the rate [10m]',
    ),
  })
}

export function fitFlag(yargs: Argv): Argv {
  return yargs.options({
    'fit-balance': switchFlag('Buy what is worth most of what the balance covers, and leave out the rest'),
  })
}

export function waitFlag(yargs: Argv): Argv {
  return yargs.options({
    wait: textFlag('How long to wait while another process collects, for instance 90s; 0 does not wait [1h]'),
  })
}

export const compareFlags = {
  compare: textFlag('Compare with this day, or with so long ago, for instance 7d; default: the day before'),
  tolerance: textFlag('How far from that day an observation may lie, for instance 1d [3d]'),
}

export function outFlag(yargs: Argv): Argv {
  return yargs.options({
    out: { ...textFlag('File to write; its extension says the format. Default: stdout'), alias: 'o' },
  })
}

export function outputFlags(formats: string, yargs: Argv): Argv {
  return outFlag(yargs).options({
    format: textFlag(formats),
    raw: switchFlag('CSV as it is, without the quote that keeps spreadsheets from running formulas'),
  })
}
