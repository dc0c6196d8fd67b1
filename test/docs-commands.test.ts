import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands/index.ts'
import { commandName, sharedFlags } from '../src/cli/flags.ts'
import { chosenCommand, meantCommand } from '../src/cli/main.ts'
import { type Sandbox, startSandbox } from '../src/sandbox/server.ts'
import { serpbear } from './arrive/import/samples.ts'
import { trueHistories } from './arrive/import/truth.ts'
import { callQuickly } from './cli/staged.ts'
import { type Workspace, workspace } from './support/rankline.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
const pages = await Promise.all(
  ['README.md', 'jobs/README.md', ...docs.map((name) => `docs/${name}`)].map(async (path) => ({
    path,
    text: await readFile(join(root, path), 'utf8'),
  })),
)

/** One command of a shell, with its words as the program gets them. */
interface ShellCommand {
  readonly env: Readonly<Record<string, string>>
  readonly words: readonly string[]
}

describe('a script of a shell is taken apart', () => {
  test.each([
    ['rankline plan a.yaml   # what it costs', [['rankline', 'plan', 'a.yaml']]],
    ['rankline search x \'a  b\' -p "q=1 2"', [['rankline', 'search', 'x', 'a  b', '-p', 'q=1 2']]],
    [
      'cd x && rankline run a | head -20; sleep 1 &',
      [
        ['cd', 'x'],
        ['rankline', 'run', 'a'],
        ['head', '-20'],
        ['sleep', '1'],
      ],
    ],
    [
      '(cd one && exec rankline worker > log 2>&1) &',
      [
        ['cd', 'one'],
        ['rankline', 'worker'],
      ],
    ],
    ['docker run \\\n  --env A=b image', [['docker', 'run', '--env', 'A=b', 'image']]],
    ["cat > x <<'END'\nrankline bogus\nEND\nrankline runs", [['cat'], ['rankline', 'runs']]],
  ])('%s', (script, wanted) => {
    expect(commandsIn(script).map(({ words }) => words)).toEqual(wanted)
  })
})

const shellWords = new Set(['until', 'do', 'exec', '{', '}', 'if', 'then'])

function commandsIn(script: string): readonly ShellCommand[] {
  const text = script
    .replace(/<<'(\w+)'(.*)\n[\s\S]*?\n\1$/gm, '$2')
    .replace(/\\\n/g, ' ')
    .replace(/<(\w+)>/g, '$1')
  const found: string[][] = [[]]
  const tokens = text.matchAll(
    /(?<comment>(?<=^|\s)#.*)|(?<redirect>\d?>>?(?:&\d)?\s*)|(?<end>[\n;|()]|&+)|(?<word>(?:[^\s'";|()&>]|'[^']*'|"[^"]*")+)/gm,
  )
  let isTarget = false
  for (const { groups: { redirect, end, word } = {} } of tokens) {
    if (end !== undefined) found.push([])
    if (word !== undefined && !isTarget) found.at(-1)?.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
    isTarget = redirect !== undefined && !redirect.includes('&')
  }
  return found.flatMap((words) => {
    const from = words.findIndex((word) => !shellWords.has(word))
    const command = from === -1 ? [] : words.slice(from)
    const assigned = command.findIndex((word) => !/^[A-Za-z_]+=/.test(word))
    if (command.length === 0 || assigned === -1) return []
    const env = Object.fromEntries(command.slice(0, assigned).map((one) => one.split(/=(.*)/s)))
    return [{ env, words: command.slice(assigned) }]
  })
}

interface Block {
  readonly language: string
  readonly text: string
}

function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text: language === 'cron' ? text.replace(/^(\S+\s+){5}/gm, '') : text,
  }))
}

const shells = new Set(['sh', 'bash', 'console', 'cron'])

function scriptOf(page: string): readonly ShellCommand[] {
  return blocksOf(page)
    .filter(({ language }) => shells.has(language))
    .flatMap(({ text }) => commandsIn(text))
}

/** Every `code` in the text between the blocks. */
function codesOf(page: string): readonly string[] {
  const prose = page.replace(/^```.*?^```$/gms, '')
  return prose
    .split(/\n\n|\|/)
    .flatMap((part) => [...part.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' ')))
}

/** Commands that stand elsewhere than in scripts: in text, in what is printed, in files of other programs. */
function toldCommands(page: string): readonly ShellCommand[] {
  const told = [
    ...codesOf(page),
    ...blocksOf(page)
      .filter(({ language }) => !shells.has(language))
      .flatMap(({ text }) => [
        ...[...text.matchAll(/: (rankline [a-z][^·\n]*)/g)].map(([, one = '']) => one),
        ...[...text.matchAll(/^ExecStart=\S*(rankline .*)$/gm)].map(([, one = '']) => one),
        ...[...text.matchAll(/\[(rankline, [^\]]*)\]/g)].map(([, one = '']) => one.replaceAll(',', '')),
      ]),
  ]
  return told
    .map((one) => one.match(/(?:^|: |\| )(rankline .*)$/)?.[1])
    .flatMap((one) => (one === undefined ? [] : commandsIn(one)))
    .filter(({ words }) => words[0] === 'rankline')
}

async function mistakeOf(words: readonly string[]): Promise<string | null> {
  try {
    chosenCommand(await meantCommand(words))
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

test.each(pages)('$path: every command and every flag exists', async ({ text }) => {
  const typed = [...scriptOf(text), ...toldCommands(text)].filter(({ words }) => words[0] === 'rankline')
  const mistakes = []
  for (const { words } of typed) {
    // A command's name alone speaks of it.
    const mistake = words.length === 2 ? null : await mistakeOf(words.slice(1))
    if (mistake !== null) mistakes.push(`${words.join(' ')}: ${mistake}`)
  }
  expect(mistakes).toEqual([])
})

describe('a flag in the text', () => {
  const ofOthers = new Set(['--ignore-scripts', '--no-sandbox'])

  test.each(pages)('$path: is one that its command has', async ({ text }) => {
    const unknown = []
    for (const code of codesOf(text)) {
      const [name = ''] = code.replace(/^rankline /, '').split(' ')
      const owner = commands.find((one) => commandName(one) === name)
      if (owner === undefined && !code.startsWith('--')) continue
      const known = new Set(['help', 'version', ...Object.keys(sharedFlags.global)])
      for (const one of owner === undefined ? commands : [owner])
        for (const flag of Object.keys((await one.load()).flags)) known.add(flag)
      for (const [flag, is = ''] of code.matchAll(/(?<!\S)--([a-z][\w-]*)/g))
        if (!known.has(is) && !ofOthers.has(flag)) unknown.push(code)
    }
    expect(unknown).toEqual([])
  })
})

describe('what the docs show does what it says', () => {
  let sandbox: Sandbox
  let here: Workspace
  let samples: Readonly<Record<string, string>>
  /** The workspace as each page finds it: a job stays bound to the place of its file. */
  let asFound: string

  beforeAll(async () => {
    sandbox = await startSandbox({
      sites: ['acme.com', 'northdesk.example', 'globex.de', 'umbrella.example', 'rival.com'],
    })
    here = await workspace(sandbox)
    for (const [name, text] of Object.entries(files)) await here.file(name, text)
    await rename(serpbear.write(here.folder, trueHistories(5)), join(here.folder, 'serpbear.sqlite'))
    sandbox.control({ rules: [{ query: 'broken desk', do: { status: 400 } }] })
    const { code, stderr } = await here.call(['run', ...jobs, '--quiet'])
    expect(code, stderr).toBe(3)
    sandbox.control({ rules: [] })
    const [alert] = JSON.parse((await here.call(['alerts', 'list', '--json'])).stdout).alerts
    samples = { alert: alert.id, run: '3', addition: '1' }
    asFound = await mkdtemp(join(tmpdir(), 'rankline-docs-'))
    await cp(here.folder, asFound, { recursive: true })
  }, 60_000)

  afterAll(async () => {
    await here[Symbol.asyncDispose]()
    await rm(asFound, { recursive: true })
    await sandbox.close()
  })

  beforeEach(async () => {
    for (const name of await readdir(here.folder)) await rm(join(here.folder, name), { recursive: true })
    await cp(asFound, here.folder, { recursive: true })
  })

  /** Forms of pages that were written. */
  const built = new Set<string>()
  const shown = pages.filter(({ path, text }) => path !== fortyClients && scriptOf(text).length > 0)

  test.each(shown)('$path', async ({ path, text }) => {
    const marked = [...text.matchAll(/<!-- sample: (\S+) is an? (\w+) -->/g)]
    await follow(
      path,
      scriptOf(text),
      new Map(marked.map(([, id = '', kind = '']) => [id, samples[kind] ?? `no sample of ${kind}`])),
    )
  })

  test(`${fortyClients}, from top to bottom in a folder that has nothing but what the page says`, async () => {
    built.clear()
    for (const name of await readdir(here.folder)) await rm(join(here.folder, name), { recursive: true })
    await cp(join(root, 'jobs/harbor-search.svg'), join(here.folder, 'logo.svg'))
    let clients = ''
    for (const { language, text } of blocksOf(pages.find(({ path }) => path === fortyClients)?.text ?? '')) {
      if (language === 'csv') {
        clients += text
        await here.file('clients.csv', clients)
      } else if (text.startsWith('# rankline.yaml'))
        await here.file(
          'rankline.yaml',
          text.replace(/type: (slack|email), .*(?= })/g, 'type: file, path: sent.jsonl'),
        )
      else if (shells.has(language)) await follow(fortyClients, commandsIn(text))
    }
    expect(await here.read('sent.jsonl')).toContain('umbrella-mail')
    expect(here.sql('SELECT DISTINCT job FROM runs ORDER BY 1')).toEqual([
      { job: '(removed)' },
      { job: 'acme' },
      { job: 'initech' },
    ])
  })

  async function follow(
    path: string,
    script: readonly ShellCommand[],
    real: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    let folder = '.'
    for (const { env, words } of script) {
      const [program = '', ...args] = words.map((word) => real.get(word) ?? hereNamed(word))
      const line = `${path}: ${words.join(' ')}`
      if (program === 'cd') folder = args[0]?.startsWith('/') ? folder : join(folder, args[0] ?? '')
      else if (program === 'mkdir') for (const name of args) await here.file(join(folder, name, '.keep'), '')
      else if (program === 'curl') await curl(line, args)
      else if (program === 'sqlite3') expect(here.sql(args[1] ?? ''), line).toBeDefined()
      else if (program === 'npm') await npm(line, args)
      else if (program !== 'rankline') expect(otherPrograms, line).toContain(program)
      else if (path !== manyMachines && canBeRun(args)) {
        const form = formOf(args)
        if (form !== null && built.has(form)) continue
        if (form !== null) built.add(form)
        const { code, stdout, stderr } = await callQuickly(here, args, env, undefined, folder)
        expect(code, `${line}\n${stderr}${stdout}`).toBeOneOf([0, codes[args[0] ?? '']])
      }
    }
  }

  /** Addresses and folders that exist elsewhere only. */
  function hereNamed(word: string): string {
    return word.replace('http://127.0.0.1:8787', sandbox.url).replace(/^\/var\/.*\//, '')
  }

  async function curl(line: string, args: readonly string[]): Promise<void> {
    const address = args.at(-1) ?? ''
    const body = args[0] === '-d' ? { method: 'POST', body: args[1] ?? '' } : {}
    expect((await fetch(address, body)).status, line).toBe(200)
  }

  async function npm(line: string, [what = '', script = '']: readonly string[]): Promise<void> {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    if (what === 'run') expect(Object.keys(scripts), line).toContain(script)
  }
})

const fortyClients = 'docs/forty-clients.md'
const manyMachines = 'docs/many-machines.md'

/** Programs of others, and what a shell does itself. */
const otherPrograms =
  '[ ./load bq cat chmod docker done echo export gzip head kill msmtp node printf psql seq sleep sudo until wait'.split(
    ' ',
  )

/** Exit codes that are no failure here: a task failed, and pages that spend do not know of each other. */
const codes: Readonly<Record<string, number>> = { status: 6, doctor: 3 }

/** Its flags, where a command writes a page: each form is made once. */
function formOf(args: readonly string[]): string | null {
  if (args[0] !== 'report' || !args.some((one) => /\.html$|\/$/.test(one))) return null
  return args.filter((one) => one.startsWith('--')).join(' ')
}

const jobs = ['acme.yaml', 'acme-us.yaml', 'umbrella.yaml']

const prints = new Set(['--help', '--version', 'help'])

/** What stays up, needs a Postgres or a browser, or takes long: of these only the words are checked. */
function canBeRun(args: readonly string[]): boolean {
  const [command = ''] = args
  if (args.some((one) => prints.has(one))) return false
  if (['sandbox', 'worker', 'queue', 'sync', 'demo'].includes(command)) return false
  if (command === 'schedule') return args.includes('--list') || args.includes('--print')
  return !args.includes('--to') && !args.some((one) => one.endsWith('.pdf'))
}

const keywords = 'query,tags,volume\nstanding desk,head,110000\nbest standing desk,head;review,40500\n'

function job(site: string): string {
  return `depth: 10
params: { gl: us, hl: en, location: Austin }
timezone: UTC
schedule: "0 6 * * *"
targets: [${site}]
competitors: [rival.com]
report: { client: Acme Inc. }
alerts: [{ when: balance, below: 10000000, to: [log] }]
queries:
  - { query: standing desk, tags: [money], volume: 2400 }
`
}

/** What the docs talk of. */
const files = {
  'rankline.yaml': `channels:
  log: { type: file, path: alerts.jsonl }
  mail: { type: file, path: mail.jsonl }
  acme-mail: { type: file, path: acme-mail.jsonl }
`,
  'acme.yaml': job('acme.com'),
  'acme-us.yaml': job('acme.com'),
  'umbrella.yaml': `${job('northdesk.example')}  - broken desk\n`,
  'ranks.yaml': job('acme.com'),
  'keywords.csv': keywords,
  'october.md': 'A good month.\n',
  'key.txt': 'sandbox-key\n',
  'queries.csv': 'Top queries,Clicks,Impressions,CTR,Position\nstanding desk,3,40,7.5%,8.1\n',
  'stats.csv':
    'Keyword Stats 2026-11-01\n"November 1, 2025 - October 31, 2026"\nKeyword,Currency,Avg. monthly searches\nstanding desk,USD,1300\n',
  'positions.csv': 'Keyword,Position,Search Volume,URL\nstanding desk,4,1300,https://acme.com/desks\n',
  'organic.csv': 'Keyword,Volume,Current position\nstanding desk,1300,4\n',
  'ranks.csv': 'Keyword,Market,Regional Monthly Searches\nstanding desk,US-en,1300\n',
  'search-console/Queries.csv': 'Top queries,Clicks,Impressions,CTR,Position\nstanding desk,3,40,7.5%,8.1\n',
  'search-console/Pages.csv': 'Top pages,Clicks,Impressions,CTR,Position\nhttps://acme.com/,3,40,7.5%,8.1\n',
  'search-console/Dates.csv': 'Date,Clicks,Impressions,CTR,Position\n2026-10-01,3,40,7.5%,8.1\n',
  'tracker.csv': 'Date,Keyword,Place,URL\n2026-01-05,standing desk,4,https://acme.com/desks\n',
  'words.txt': 'standing desk\nbest standing desk\n',
}
