import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { namedSecret } from '../app/config.ts'
import { stageJobs } from '../app/job-files.ts'
import { decideJobs } from '../app/plan-jobs.ts'
import { openWorkspace } from '../app/workspace.ts'
import { isWorkspaceFile } from '../jobfile/workspace.ts'
import { UsageError } from '../model/errors.ts'
import { parseUrl } from '../model/url.ts'
import type { Channel, Workspace } from '../model/workspace.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { ChannelFacts, JobFacts } from './facts.ts'

/** The jobs of a folder and what they share, read as `plan` does. */
export async function workspaceFacts(
  folder: string,
): Promise<{ readonly jobs: JobFacts; readonly channels: readonly ChannelFacts[] }> {
  try {
    const workspace = await openWorkspace(folder)
    return { jobs: await jobFacts(folder), channels: channelFacts(workspace) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { jobs: { ...noJobs, workspaceMistake: error.message }, channels: [] }
  }
}

const noJobs: JobFacts = {
  workspaceMistake: null,
  files: 0,
  sound: 0,
  firstMistake: null,
  queries: 0,
  credits: 0,
  scheduled: 0,
}

async function jobFacts(folder: string): Promise<JobFacts> {
  const files = jobFilesIn(folder)
  if (files.length === 0) return noJobs
  // In a database of its own the jobs are planned as if they had never run.
  await using store = await openStore(':memory:')
  await using draft = await store.draft()
  const lines: string[] = []
  const events = { log: (line: string) => lines.push(line), onRead: () => {} }
  const staged = (await stageJobs({ job: files, 'skip-bad': true }, draft, store, events)) ?? []
  const decided = await decideJobs(store, staged, { fresh: true, change: false })
  let queries = 0
  let credits = 0
  for (const { planned } of decided) {
    const summary = await draft.summary(planned)
    queries += summary.queries
    credits += Math.min(summary.credits.max, planned.settings.budget.maxCredits ?? Number.POSITIVE_INFINITY)
  }
  return {
    workspaceMistake: null,
    files: files.length,
    sound: staged.length,
    firstMistake: staged.length === files.length ? null : (lines[0] ?? null),
    queries,
    credits,
    scheduled: staged.filter(({ settings }) => settings.schedule !== null).length,
  }
}

/** YAML files that say what jobs say: other programs keep settings of theirs in the same folder. */
function jobFilesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[^.].*\.ya?ml$/i.test(entry.name) && !isWorkspaceFile(entry.name))
    .map(({ name }) => join(folder, name))
    .filter((file) =>
      /^(queries|operation|targets|schedule|every|matrix)\s*:/m.test(readFileSync(file, 'utf8')),
    )
    .sort()
}

function channelFacts(workspace: Workspace): readonly ChannelFacts[] {
  return Object.entries(workspace.channels).map(([name, channel]) => ({
    name,
    obstacle: obstacleTo(channel, workspace),
  }))
}

/** What keeps messages from a channel, as far as can be known without sending one. */
function obstacleTo(channel: Channel, { folder }: Workspace): string | null {
  if (channel.type === 'email') return missing(['SMTP_URL', 'SMTP_FROM'])
  if (channel.type === 'file') {
    const file = isAbsolute(channel.path) ? channel.path : resolve(folder, channel.path)
    return existsSync(dirname(file)) ? null : `make the folder ${dirname(file)}`
  }
  if (channel.type === 'exec') {
    const [program = ''] = channel.command
    const isPath = program.includes('/')
    return isPath && !existsSync(resolve(folder, program)) ? `there is no program ${program}` : null
  }
  const secret = channel.type === 'webhook' ? channel.secretEnv : null
  const gap = missing([channel.urlEnv, ...(secret === null ? [] : [secret])])
  if (gap !== null) return gap
  const isAddress = /^https?:$/.test(parseUrl(namedSecret(channel.urlEnv) ?? '')?.protocol ?? '')
  return isAddress ? null : `${channel.urlEnv} holds no web address`
}

function missing(names: readonly string[]): string | null {
  const unset = names.filter((name) => namedSecret(name) === undefined)
  return unset.length === 0 ? null : `set ${unset.join(' and ')} in .env`
}
