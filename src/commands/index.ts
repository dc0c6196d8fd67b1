import { type Command, listFlag, switchFlag, textFlag } from './command.ts'
import {
  collectFlags,
  compareFlags,
  fitFlag,
  jobFlags,
  outFlag,
  outputFlags,
  serviceFlags,
  waitFlag,
} from './flags.ts'

/** Every command: what may be typed, and where what it does is loaded from. */
export const commands: readonly Command[] = [
  {
    usage: 'plan <job..>',
    describe: 'Show what jobs would call and cost; spends nothing',
    readsStdin: true,
    examples: [
      ['plan keywords.csv --target acme.com --depth 30', 'a list of queries'],
      ['plan acme.yaml --backtest', 'paging policies on the history of a job'],
    ],
    flags: (yargs) =>
      fitFlag(serviceFlags(jobFlags(yargs))).options({
        backtest: switchFlag('What each paging policy would have cost and missed over what is stored'),
      }),
    load: async () => (await import('../actions/plan.ts')).plan,
  },
  {
    usage: 'run <job..>',
    describe: 'Collect jobs, or go on with what was not finished; - reads one from standard input',
    readsStdin: true,
    examples: [
      ['run keywords.csv --target acme.com --depth 30', 'ranks among the first 30 results'],
      ['run --skip-bad acme.yaml umbrella.yaml', 'several jobs, for cron'],
      ['cat keywords.csv | rankline run - --name keywords --target acme.com', 'a job through a pipe'],
    ],
    flags: (yargs) =>
      fitFlag(waitFlag(collectFlags(serviceFlags(jobFlags(yargs))))).options({
        'dry-run': switchFlag('The same as plan'),
        'skip-bad': switchFlag(
          'Leave out job files with mistakes, and end with exit code 2 after the others',
        ),
      }),
    load: async () => (await import('../actions/run.ts')).run,
  },
  {
    usage: 'resume [run]',
    describe: 'Go on with an unfinished run',
    flags: (yargs) => waitFlag(collectFlags(serviceFlags(yargs))),
    load: async () => (await import('../actions/resume.ts')).resume,
  },
  {
    usage: 'retry [run]',
    describe: 'Buy again only what failed in a run',
    flags: (yargs) => waitFlag(collectFlags(serviceFlags(yargs))),
    load: async () => (await import('../actions/resume.ts')).retry,
  },
  {
    usage: 'runs [run]',
    describe: 'List runs, or show one with every failed task',
    flags: (yargs) =>
      yargs.options({ job: textFlag('Runs of this job only'), limit: textFlag('Runs to list [20]') }),
    load: async () => (await import('../actions/runs.ts')).runs,
  },
  {
    usage: 'report <job>',
    describe: 'Where the targets of a job rank, and how they moved',
    examples: [
      ['report acme --compare 7d', 'beside a week ago'],
      ['report acme --out acme.html', 'a page; also .xlsx, .md, .csv, .json'],
      ["report acme --explain 'standing desk'", 'why a query says what it says'],
    ],
    flags: (yargs) =>
      outputFlags('table, csv, json, jsonl, md, xlsx or html [table]', yargs).options({
        ...compareFlags,
        tag: listFlag('Keywords with this tag only'),
        target: listFlag('This target only, by its name in the report'),
        serps: textFlag('html: the first results of so many days more, for instance 30d'),
        sort: textFlag('query, rank, change or volume [query]'),
        metrics: switchFlag('The figures alone; with --json each with its definition and what it covers'),
        ctr: textFlag('File with a CTR curve of your own: rank,ctr'),
        kind: textFlag('Results that the figures are of: organic, news, video, image, reference [organic]'),
        absent: textFlag('What absent counts as: depth, looked-at, ranked-only or a rank [depth]'),
        date: textFlag('The report as of this local day; default: the latest'),
        explain: textFlag(
          'One query instead: its results page by page, and which target each matches and why',
        ),
      }),
    load: async () => (await import('../actions/report.ts')).report,
  },
  {
    usage: 'diff <job>',
    describe: 'Who entered, left and moved among the results of a query, or of every query',
    examples: [["diff acme --query 'standing desk' --compare 7d", 'who came, who went, who moved']],
    flags: (yargs) =>
      outFlag(yargs).options({
        query: textFlag('This query, result by result; default: one line for every query of the job'),
        operation: textFlag('As asked with this operation only'),
        param: { ...listFlag('As asked with this parameter only, for instance -p gl=us'), alias: 'p' },
        depth: textFlag('Only results among the first so many on either day; default: all'),
        ...compareFlags,
        date: textFlag('The results of this local day, or the latest before it; default: the latest'),
      }),
    load: async () => (await import('../actions/diff.ts')).diff,
  },
  {
    usage: 'export <kind>',
    describe: 'Results in bulk: organic, news, videos, images, references, suggestions, related, calls',
    examples: [
      ['export organic --job acme --out acme.csv', 'all results of a job'],
      ['export organic --out new.parquet --cursor-file organic.cursor', 'what is new since the last time'],
    ],
    flags: (yargs) =>
      outputFlags('csv, jsonl, json, parquet or xlsx [csv]', yargs).options({
        job: textFlag('Of this job only'),
        run: textFlag('Of this run only'),
        query: textFlag('Of this query only'),
        operation: textFlag('Of this operation only'),
        from: textFlag('From this day or instant on (UTC)'),
        until: textFlag('Before this day or instant (UTC)'),
        since: textFlag(
          'Only what was stored or changed after this cursor; every export ends by naming the next',
        ),
        'cursor-file': textFlag(
          'File that holds the cursor: read where it exists, replaced when --out is written',
        ),
      }),
    load: async () => (await import('../actions/export.ts')).exportRows,
  },
  {
    usage: 'ledger [what]',
    describe: "Credits by run, day, job or tag; 'verify' sets the books against the service's own count",
    examples: [
      ['ledger --by job', 'credits by job'],
      ['ledger verify', 'the books beside the count of the service'],
    ],
    flags: (yargs) =>
      yargs.options({
        by: textFlag('run, day (UTC), job or tag [day]'),
        job: textFlag('Calls of this job only'),
        from: textFlag('From this day or instant on (UTC)'),
        until: textFlag('Before this day or instant (UTC)'),
      }),
    load: async () => (await import('../actions/ledger.ts')).ledger,
  },
  {
    usage: 'renormalise [job]',
    describe: 'Derive all results again from stored answers; calls nothing',
    flags: (yargs) =>
      waitFlag(yargs).options({
        outdated: switchFlag('Only what an older normaliser derived'),
      }),
    load: async () => (await import('../actions/renormalise.ts')).renormaliseAnswers,
  },
  {
    usage: 'usage',
    describe: 'Balance, rate limits and quotas; free',
    flags: serviceFlags,
    load: async () => (await import('../actions/usage.ts')).usage,
  },
  {
    usage: 'health [engine|path]',
    describe: 'How an engine or a path did over the last hour; free',
    flags: serviceFlags,
    load: async () => (await import('../actions/lookups.ts')).health,
  },
  {
    usage: 'countries <text>',
    describe: 'Codes of the countries whose name contains a text; free',
    flags: serviceFlags,
    load: async () => (await import('../actions/lookups.ts')).countries,
  },
  {
    usage: 'languages <text>',
    describe: 'Codes of the languages whose name contains a text; free',
    flags: serviceFlags,
    load: async () => (await import('../actions/lookups.ts')).languages,
  },
  {
    usage: 'operations',
    describe: 'The catalog: what can be called, with prices and parameters',
    flags: (yargs) => yargs,
    load: async () => (await import('../actions/operations.ts')).operations,
  },
  {
    usage: 'search <operation> <query>',
    describe: 'One call: shown, stored, in the ledger',
    examples: [
      ["search alpha.search 'standing desk' -p gl=us", 'one call'],
      ['search alpha.search -- -inurl', 'a text that begins with -'],
    ],
    flags: (yargs) =>
      waitFlag(serviceFlags(yargs)).options({
        param: { ...listFlag('Parameter, for instance -p gl=us'), alias: 'p' },
        style: textFlag('get or post'),
      }),
    load: async () => (await import('../actions/search.ts')).search,
  },
  {
    usage: 'db <what> [file]',
    describe: 'Keep the database: backup <file>, check, migrate, or prune --answers <age>',
    examples: [
      ['db backup acme-copy.db', 'a whole copy'],
      ['db prune --answers 90d --dry-run', 'how much old bodies take'],
    ],
    flags: (yargs) =>
      yargs.options({
        answers: textFlag('prune: drop stored bodies of answers older than this, for instance 90d'),
        'dry-run': switchFlag('prune: say what would be dropped'),
        vacuum: switchFlag('prune: write the file anew, so that it becomes smaller'),
      }),
    load: async () => (await import('../actions/db.ts')).db,
  },
  {
    usage: 'sandbox',
    describe: 'The whole service on this machine, to try things without an account',
    examples: [['sandbox --site acme.com --port 0', 'your site among the results']],
    flags: (yargs) =>
      yargs.options({
        port: textFlag('Port on 127.0.0.1; 0 takes a free one [8787]'),
        seed: textFlag('Same seed, same results [rankline]'),
        key: textFlag('API key that it accepts [sandbox-key]'),
        balance: textFlag('Credits to begin with [100000]'),
        'per-second': textFlag('Calls allowed per second; default: no limit'),
        'per-minute': textFlag('Calls allowed per minute; default: no limit'),
        latency: textFlag('Milliseconds that a call takes, or a range such as 20-200 [0]'),
        site: listFlag('Site that competes for every query; default: those of the example jobs'),
        date: textFlag('Day on which its world stands still; default: today'),
      }),
    load: async () => (await import('../actions/sandbox.ts')).sandbox,
  },
  {
    usage: 'demo',
    describe: 'Sandbox, a month of history and the report, in seconds, with no account',
    flags: (yargs) => yargs.options({ days: textFlag('Days to simulate [30]') }),
    load: async () => (await import('../actions/demo.ts')).demo,
  },
]
