import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stageJobs } from '../app/job-files.ts'
import { outgoing } from '../app/messages/outgoing.ts'
import { decideJobs } from '../app/plan-jobs.ts'
import { openWorkspace } from '../app/workspace.ts'
import { isWorkspaceFile, workspaceFile } from '../jobfile/workspace.ts'
import { UsageError } from '../model/errors.ts'
import { systemClock } from '../model/time.ts'
import type { Workspace } from '../model/workspace.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { ChannelFacts, JobFacts } from './facts.ts'

/** The jobs of a folder and what they share, read as `plan` does. */
export async function workspaceFacts(
  folder: string,
  { allowHttp }: { readonly allowHttp: boolean },
): Promise<{ readonly jobs: JobFacts; readonly channels: readonly ChannelFacts[] }> {
  try {
    const workspace = await openWorkspace(folder)
    const { jobs, channels } = await jobFacts(folder)
    return { jobs, channels: await channelFacts(workspace, channels, allowHttp) }
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

/** Also the names of channels that jobs send to. */
async function jobFacts(
  folder: string,
): Promise<{ readonly jobs: JobFacts; readonly channels: readonly string[] }> {
  const files = jobFilesIn(folder)
  if (files.length === 0) return { jobs: noJobs, channels: [] }
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
  const jobs: JobFacts = {
    workspaceMistake: null,
    files: files.length,
    sound: staged.length,
    firstMistake: staged.length === files.length ? null : (lines[0] ?? null),
    queries,
    credits,
    scheduled: staged.filter(({ settings }) => settings.schedule !== null).length,
  }
  const named = staged.flatMap(({ settings }) => settings.alerts ?? []).flatMap(({ to }) => to ?? [])
  return { jobs, channels: [...new Set(named)] }
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

/** @param named channels that jobs send to */
async function channelFacts(
  workspace: Workspace,
  named: readonly string[],
  allowHttp: boolean,
): Promise<readonly ChannelFacts[]> {
  const { channels, folder } = workspace
  const unknown = named.filter((name) => !Object.hasOwn(channels, name))
  const around = { ...outgoing(allowHttp), folder, now: systemClock.wall }
  const { openChannel } = await import('../alerts/channels/index.ts')
  return [
    ...Object.entries(channels).map(([name, channel]) => {
      const opened = openChannel(channel, around)
      return { name, obstacle: 'missing' in opened ? opened.missing : null }
    }),
    ...unknown.map((name) => ({
      name,
      obstacle: `a job sends to it, but ${workspaceFile} has no such channel`,
    })),
  ]
}
