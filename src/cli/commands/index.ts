import type { Registered } from '../flags.ts'

/** Every command. */
export const commands: readonly Registered[] = [
  {
    usage: 'init [dir]',
    describe: 'Make a workspace: a folder with a first job, its keywords, and the sandbox as its service',
    load: async () => (await import('./workspace/init.ts')).initCommand,
  },
  {
    usage: 'plan [job..]',
    describe: 'Show what jobs would call and cost; spends nothing',
    load: async () => (await import('./collect/plan.ts')).planCommand,
  },
  {
    usage: 'run [job..]',
    describe: 'Collect jobs, or continue unfinished ones; - reads one from standard input',
    load: async () => (await import('./collect/run.ts')).runCommand,
  },
  {
    usage: 'schedule [job..]',
    describe: 'Stay up and run each job at its time; or print what starts it with the system',
    load: async () => (await import('./collect/schedule.ts')).scheduleCommand,
  },
  {
    usage: 'resume [run]',
    describe: 'Continue an unfinished run',
    load: async () => (await import('./collect/run.ts')).resumeCommand,
  },
  {
    usage: 'retry [run]',
    describe: 'Buy again only what failed in a run',
    load: async () => (await import('./collect/run.ts')).retryCommand,
  },
  {
    usage: 'runs [run]',
    describe: 'List runs, or show one with every failed task',
    load: async () => (await import('./report/runs.ts')).runsCommand,
  },
  {
    usage: 'status',
    describe: 'How all jobs are doing, problems first; exit code 3: a warning, 6: an error',
    load: async () => (await import('./report/status.ts')).statusCommand,
  },
  {
    usage: 'job <what> [name] [to]',
    describe: "A client's life: list, rename, pause, resume or remove a job",
    load: async () => (await import('./workspace/job.ts')).jobCommand,
  },
  {
    usage: 'report [job..]',
    describe: 'Ranks of the targets of a job, and how they changed; of several jobs, a row for each',
    load: async () => (await import('./report/report-command.ts')).reportCommand,
  },
  {
    usage: 'diff <job>',
    describe: 'Results of a query, or of every query, that entered, left or moved',
    load: async () => (await import('./report/diff.ts')).diffCommand,
  },
  {
    usage: 'cluster [job]',
    describe: 'Keywords that one page can serve, by the results that they share; buys nothing',
    load: async () => (await import('./report/cluster.ts')).clusterCommand,
  },
  {
    usage: 'find <text>',
    describe: 'Results and AI answers with these words, the newest first; buys nothing',
    load: async () => (await import('./report/find.ts')).findCommand,
  },
  {
    usage: 'export <kind>',
    describe: 'Results in bulk: organic, news, videos, images, references, suggestions, related, calls',
    load: async () => (await import('./report/export.ts')).exportCommand,
  },
  {
    usage: 'clicks <what> [name]',
    describe:
      'Clicks of Search Console from files, beside ranks: add, list, undo; fit a click curve; suggest words to track',
    load: async () => (await import('./workspace/clicks.ts')).clicksCommand,
  },
  {
    usage: 'import <what> [id]',
    describe: 'History of another tracker, from its file or folder: import <file>; list; undo <id>; free',
    load: async () => (await import('./workspace/import.ts')).importCommand,
  },
  {
    usage: 'volumes <what> [file]',
    describe: 'Search volumes of other tools, for jobs that name none: add <file>, list, undo <number>',
    load: async () => (await import('./workspace/volumes.ts')).volumesCommand,
  },
  {
    usage: 'alerts <what> [name]',
    describe: 'Alerts: list [job]; mute an alert, job, tag or rule; send what waits; test [channel]',
    load: async () => (await import('./report/alerts.ts')).alertsCommand,
  },
  {
    usage: 'ledger [what]',
    describe: "Credits by run, day, job, tag or client; 'verify' compares them with the service's own count",
    load: async () => (await import('./account/ledger.ts')).ledgerCommand,
  },
  {
    usage: 'renormalise [job]',
    describe: 'Derive all results again from stored answers; calls nothing',
    load: async () => (await import('./workspace/db.ts')).renormaliseCommand,
  },
  {
    usage: 'usage',
    describe: 'Balance, rate limits and quotas; free',
    load: async () => (await import('./account/lookups.ts')).usageCommand,
  },
  {
    usage: 'health [engine|path]',
    describe: 'Success rate and speed of an engine or a path in the last hour; free',
    load: async () => (await import('./account/lookups.ts')).healthCommand,
  },
  {
    usage: 'countries <text>',
    describe: 'Codes of the countries whose name contains a text; free',
    load: async () => (await import('./account/lookups.ts')).countriesCommand,
  },
  {
    usage: 'languages <text>',
    describe: 'Codes of the languages whose name contains a text; free',
    load: async () => (await import('./account/lookups.ts')).languagesCommand,
  },
  {
    usage: 'operations',
    describe: 'The catalog: all operations, with prices and parameters',
    load: async () => (await import('./account/operations.ts')).operationsCommand,
  },
  {
    usage: 'search <operation> <query>',
    describe: 'One call: shown, stored and written to the ledger',
    load: async () => (await import('./collect/search.ts')).searchCommand,
  },
  {
    usage: 'worker',
    describe: 'Buy what runs of other machines put into the queue; stays up, or --once',
    load: async () => (await import('./machines/worker.ts')).workerCommand,
  },
  {
    usage: 'sync',
    describe: 'Bring what all machines of the queue bought into this database',
    load: async () => (await import('./machines/queue.ts')).syncCommand,
  },
  {
    usage: 'queue <what>',
    describe: 'The queue of many machines: status, drain, pause, resume, retry, rekey, migrate',
    load: async () => (await import('./machines/queue.ts')).queueCommand,
  },
  {
    usage: 'db <what> [file]',
    describe:
      'Maintain the database: backup <file>, restore <file>, check, migrate, index, or prune --answers <age>',
    load: async () => (await import('./workspace/db.ts')).dbCommand,
  },
  {
    usage: 'doctor',
    describe: 'Check settings, service, database, disk, clock, locks, jobs and channels; free',
    load: async () => (await import('./workspace/doctor.ts')).doctorCommand,
  },
  {
    usage: 'sandbox',
    describe: 'The whole service on this machine, to try rankline without an account',
    load: async () => (await import('./workspace/sandbox.ts')).sandboxCommand,
  },
  {
    usage: 'demo',
    describe: 'Sandbox, a month of history and the report, in seconds, with no account',
    load: async () => (await import('./workspace/demo.ts')).demoCommand,
  },
  {
    usage: 'completion [shell]',
    describe: 'Print a completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./workspace/completion.ts')).completionCommand,
  },
]
