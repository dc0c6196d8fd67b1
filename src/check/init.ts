import { workspaceFile } from '../jobfile/files.ts'
import { jobFileJsonSchema, workspaceJsonSchema } from '../jobfile/json-schema.ts'

/** What a new workspace is about. */
export interface WorkspaceAnswers {
  /** Host whose ranks are tracked. */
  readonly site: string
  /** Codes of the country and the language that are searched in. */
  readonly country: string
  readonly language: string
  /** Time of day at which the job runs, in that zone. */
  readonly hour: number
  readonly minute: number
  readonly timezone: string
}

/** A site that the sandbox lets compete for every query. */
const sandboxSite = 'northdesk.example'

/** A time of day as clocks show it. */
function clockTime(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

/** A client of an agency, and what its job is about. */
export interface Client extends WorkspaceAnswers {
  /** As reports say it. */
  readonly client: string
  /** Its job: the name in small letters, with hyphens. */
  readonly job: string
}

/** One file of a new workspace. */
export interface LaidOutFile {
  /** Below the folder of the workspace. */
  readonly path: string
  readonly text: string
  /** Only its owner may read it. */
  readonly isSecret?: true
}

/** The job of a new workspace. */
const jobFile = 'ranks.yaml'
const jobOfFile = 'ranks'

const schemas = '.rankline'

/** The files of a workspace with a job for each of these clients. */
function clientFiles(clients: readonly Client[], usual: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    ...clients.flatMap((client) => [
      { path: `${client.job}.yaml`, text: job(client, client) },
      { path: `${client.job}.csv`, text: `query,tags,volume\n${cellOf(client.client)},brand,\n` },
    ]),
    ...sharedFiles(usual),
  ]
}

function cellOf(text: string): string {
  return /[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The files of a new workspace, in the order in which they are told. */
function workspaceFiles(answers: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    { path: jobFile, text: job(answers) },
    { path: 'keywords.csv', text: keywords },
    { path: 'README.md', text: readme(answers) },
    ...sharedFiles(answers),
  ]
}

function sharedFiles(answers: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    { path: workspaceFile, text: shared(answers) },
    { path: '.env', text: env, isSecret: true },
    { path: '.env.example', text: envExample },
    { path: '.gitignore', text: gitignore },
    ...schemaFiles(),
  ]
}

/** The JSON Schemas that the first lines of YAML files name. This version of rankline makes them, no person does. */
function schemaFiles(): readonly LaidOutFile[] {
  return [
    { path: `${schemas}/job.schema.json`, text: json(jobFileJsonSchema()) },
    { path: `${schemas}/workspace.schema.json`, text: json(workspaceJsonSchema()) },
  ]
}

/** The sandbox in which the site of the job is found. */
function sandboxCommand({ site }: WorkspaceAnswers): string {
  return site === sandboxSite ? 'rankline sandbox' : `rankline sandbox --site ${site}`
}

function job(
  { site, country, language, hour, minute }: WorkspaceAnswers,
  of: { readonly job: string; readonly client: string } | null = null,
): string {
  const name = of?.job ?? jobOfFile
  const file = of === null ? jobFile : `${name}.yaml`
  const list = of === null ? 'keywords.csv' : `${name}.csv`
  const location = new Intl.DisplayNames(['en'], { type: 'region' }).of(country.toUpperCase())
  const competitors =
    site === sandboxSite
      ? 'competitors: [risewell.example, sitless.example]'
      : '# competitors: [rival.com]      # sites of others, to compare with'
  return `# yaml-language-server: $schema=./${schemas}/job.schema.json
# What is searched for, how deep, how often, and whose ranks are tracked.
# What it would cost, for free: rankline plan ${file}

operation: alpha.search          # rankline operations lists all, with prices and parameters
params: { gl: ${country}, hl: ${language}, location: "${location}" }
depth: 20                        # the first 20 results of each query: two pages, two credits

schedule: "${minute} ${hour} * * *"            # every day at ${clockTime(hour, minute)}: minute, hour, day, month, weekday

targets: [${site}]
${competitors}

budget: { max_credits: 100 }     # a run stops there, and can be continued

alerts:                          # sent to the channels of rankline.yaml, once when they begin and once when they are over
  - { when: drop, by: 5, confirm: 2 }
  - { when: run-failed }

# How a report looks that you send: rankline report ${name} --for client --out ${name}.html
${of === null ? '# report: { title: Our ranks, client: Acme Inc., agency: North, accent: "#0b6b5c", language: en }' : `report: { client: ${JSON.stringify(of.client)} }`}

queries:
  - file: ${list}           # a row for each query: its tags, its searches per month
${of === null ? '  - { query: buy standing desk, tags: [money], priority: 10, volume: 1300 }\n' : ''}`
}

const keywords = `query,tags,volume
standing desk,head,110000
best standing desk,head;review,40500
electric standing desk,head,27100
small standing desk,feature,9900
corner standing desk,feature,8100
standing desk with drawers,feature,12100
standing desk converter,accessory,22200
standing desk mat,accessory,14800
standing desk height,advice,3600
`

function shared({ timezone }: WorkspaceAnswers): string {
  return `# yaml-language-server: $schema=./${schemas}/workspace.schema.json
# What the jobs of this folder share. A job that says otherwise wins.

defaults:
  timezone: ${timezone}

# Credits that all jobs together may cost, and those of one tag.
# budget: { per_day: 500, per_month: 10000, by_tag: { acme: { per_month: 4000 } } }

# Where messages go: rankline alerts test sends a sample. Addresses and passwords stand in .env, under the names given here.
channels:
  log: { type: file, path: alerts.jsonl }
  # chat: { type: slack, url_env: SLACK_URL }
  # mail: { type: email, to: [you@example.com] }

# How long answers and results are kept; ranks stay.
# keep: { answers: 90d, results: 2y }
`
}

const env = `# For trying: the service is the sandbox on this machine (rankline sandbox).
# With a real account, write its address and key here, and delete data/, which holds made-up results.
RANKLINE_BASE_URL=http://127.0.0.1:8787
RANKLINE_API_KEY=sandbox-key
`

const envExample = `# Copy this to .env and fill it in. .env is never committed.

# Address of the service: the part before /v1.
RANKLINE_BASE_URL=https://service.example
RANKLINE_API_KEY=

# For channels in rankline.yaml:
# SLACK_URL=https://hooks.slack.com/services/…
# SMTP_URL=smtps://user:password@smtp.example.com
# SMTP_FROM=rankline@example.com
`

const gitignore = `.env
data/
alerts.jsonl
`

function readme(answers: WorkspaceAnswers): string {
  return `# Ranks of ${answers.site}

- \`${jobFile}\`: what is searched for, how deep and how often. \`keywords.csv\`: its keywords.
- \`rankline.yaml\`: what all jobs of this folder share. \`.env\`: address and key of the service, never committed.
- Without an account: \`${sandboxCommand(answers)}\` in another terminal answers in the place of the service.
- \`rankline plan ${jobFile}\`: what a run would cost. \`rankline run ${jobFile}\`: collects. \`rankline report ${jobOfFile}\`: the ranks.
- \`rankline report ${jobOfFile} --out ${jobOfFile}.html\`: a page to look at; also \`.pdf\`, \`.eml\` and \`.xlsx\`. \`report:\` in the job says how it looks.
- With an account: write its address and key into \`.env\`, delete \`data/\` (made-up results), and run \`rankline doctor\`.
- Every day by itself: \`rankline schedule\` stays up; \`rankline schedule --print systemd\` or \`crontab\` sets it up for good.
- How all jobs are: \`rankline status\`.
`
}

function json(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** What a new workspace has. */
export const newWorkspace = {
  sandboxSite,
  clockTime,
  jobFile,
  jobOfFile,
  clientFiles,
  workspaceFiles,
  schemaFiles,
  sandboxCommand,
}
