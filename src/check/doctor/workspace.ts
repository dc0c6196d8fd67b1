import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceFile, workspaceFolder } from '../../jobfile/upward.ts'
import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { Workspace } from '../../model/settings/workspace.ts'
import { systemClock } from '../../model/time.ts'
import { namedSecret } from '../../run/config.ts'
import { outgoing } from '../../run/connect/outgoing.ts'
import { stageJobs } from '../../run/job-files.ts'
import { yamlJobFiles } from '../../run/planning/due-files.ts'
import { decideJobs } from '../../run/planning/plan-jobs.ts'
import { openWorkspace } from '../../run/workspace.ts'
import { openStore } from '../../store/sqlite/open.ts'
import { type LaidOutFile, schemaFiles } from '../init/files.ts'
import type { ChannelFacts, FolderFacts, JobFilesFacts } from './facts.ts'

/** What there is in a folder beside its jobs. */
export function folderFacts(folder: string): FolderFacts {
  const isOld = ({ path, text }: LaidOutFile): boolean => {
    const file = join(folder, path)
    return existsSync(file) && readFileSync(file, 'utf8') !== text
  }
  return {
    hasWorkspaceFile: existsSync(join(workspaceFolder(folder), workspaceFile)),
    hasOldSchemas: schemaFiles().some(isOld),
  }
}

/** The jobs of a folder and what they share, read as `plan` does. */
export async function workspaceFacts(
  folder: string,
  { allowHttp }: { readonly allowHttp: boolean },
): Promise<{ readonly jobs: JobFilesFacts; readonly channels: readonly ChannelFacts[] }> {
  try {
    const workspace = await openWorkspace(folder)
    const { facts, settings } = await jobFacts(folder)
    return { jobs: facts, channels: await channelFacts(workspace, settings, allowHttp) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { jobs: { ...noJobs, workspaceMistake: error.message }, channels: [] }
  }
}

const noJobs: JobFilesFacts = {
  workspaceMistake: null,
  files: 0,
  sound: 0,
  firstMistake: null,
  queries: 0,
  credits: 0,
  scheduled: 0,
  alerting: [],
}

async function jobFacts(
  folder: string,
): Promise<{ readonly facts: JobFilesFacts; readonly settings: readonly JobSettings[] }> {
  const files = await yamlJobFiles(folder)
  if (files.length === 0) return { facts: noJobs, settings: [] }
  // In a database of its own the jobs are planned as if they had never run.
  await using store = await openStore(':memory:')
  await using draft = await store.draft()
  const lines: string[] = []
  const events = {
    logMistake: (line: string) => lines.push(line),
    onMistakes: () => {},
    onRead: () => {},
  }
  const staged = (await stageJobs({ job: files, 'skip-bad': true }, draft, store, events)) ?? []
  const decided = await decideJobs(store, staged, { fresh: true, change: false })
  let queries = 0
  let credits = 0
  for (const { planned } of decided) {
    const summary = await draft.summary(planned)
    queries += summary.queries
    credits += Math.min(summary.credits.max, planned.settings.budget.maxCredits ?? Number.POSITIVE_INFINITY)
  }
  const facts: JobFilesFacts = {
    workspaceMistake: null,
    files: files.length,
    sound: staged.length,
    firstMistake: staged.length === files.length ? null : (lines[0] ?? null),
    queries,
    credits,
    scheduled: staged.filter(({ settings }) => settings.schedule !== null).length,
    alerting: staged
      .filter(({ settings: { alerts, digest } }) => (alerts ?? []).length > 0 || digest !== null)
      .map(({ settings }) => settings.name),
  }
  return { facts, settings: staged.map(({ settings }) => settings) }
}

async function channelFacts(
  { channels, folder }: Workspace,
  jobs: readonly JobSettings[],
  allowHttp: boolean,
): Promise<readonly ChannelFacts[]> {
  const named = jobs.flatMap(({ alerts, digest }) => [
    ...(alerts ?? []),
    ...(digest === null ? [] : [digest]),
  ])
  const unknown = new Set(
    named.flatMap(({ to }) => to ?? []).filter((name) => !Object.hasOwn(channels, name)),
  )
  const pinged = new Set(jobs.flatMap(({ ping }) => ping?.urlEnv ?? []))
  const silent = [...pinged].filter((variable) => namedSecret(variable) === undefined)
  const around = { ...outgoing(allowHttp), folder, now: systemClock.wall }
  const { openChannel } = await import('../../unattended/channels/index.ts')
  return [
    ...Object.entries(channels).map(([name, channel]) => {
      const opened = openChannel(channel, around)
      return { name, obstacle: 'missing' in opened ? opened.missing : null }
    }),
    ...[...unknown].map((name) => ({
      name,
      obstacle: `a job sends to it, but ${workspaceFile} has no such channel`,
    })),
    ...silent.map((variable) => ({
      name: 'ping',
      obstacle: `${variable} is not set. Set it in the environment or in .env`,
    })),
  ]
}
