import { operations } from '../../../catalog/index.ts'
import { UsageError } from '../../../model/errors.ts'
import { closestMatch } from '../../../model/text.ts'
import { type OptionSpec, type OptionSpecs, switchOption } from '../../../model/values.ts'
import { sanitizeLine, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import {
  type Command,
  commandName,
  flagNamed,
  type Registered,
  sharedFlags,
  type TypedOptions,
} from '../../flags.ts'

/** What the scripts call; `cli/main` answers with `complete`. */
const completing = '__complete'

/** Stands for the names of files, which shells know best. */
const files = ':files'

const scripts = {
  bash: `# Completion of rankline for bash. In ~/.bashrc: source <(rankline completion bash)
_rankline() {
  local line current="\${COMP_WORDS[COMP_CWORD]#=}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = '${files}' ]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      line="\${line%%$'\\t'*}"
      # To bash, --flag=value is three words.
      case "$COMP_WORDBREAKS$line" in *=*--*=*) line="\${line#*=}" ;; esac
      COMPREPLY+=("$(printf %q "$line")")
    fi
  done < <(rankline ${completing} "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "+\${COMP_WORDS[COMP_CWORD]}" 2> /dev/null)
}
complete -F _rankline rankline
`,
  zsh: `#compdef rankline
# Completion of rankline for zsh. In a folder of $fpath: rankline completion zsh > _rankline; or in ~/.zshrc: source <(rankline completion zsh)
_rankline() {
  local line wants_files
  local -a found
  while IFS= read -r line; do
    if [[ $line == '${files}' ]]; then wants_files=1; else found+=("\${\${line//:/\\\\:}/$'\\t'/:}"); fi
  done < <(rankline ${completing} "\${(@)words[2,CURRENT-1]}" "+\${words[CURRENT]}" 2> /dev/null)
  (( \${#found} )) && _describe rankline found
  [[ -n $wants_files ]] && _files
  return 0
}
if [[ $funcstack[1] == _rankline ]]; then _rankline "$@"; else compdef _rankline rankline; fi
`,
  fish: `# Completion of rankline for fish: rankline completion fish > ~/.config/fish/completions/rankline.fish
function __rankline_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (rankline ${completing} $words[2..-1] "+$current" 2> /dev/null)
    if test "$line" = '${files}'
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c rankline -f -a '(__rankline_complete)'
`,
  powershell: `# Completion of rankline for PowerShell. In $PROFILE: rankline completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName rankline -ScriptBlock {
  param($current, $ast, $cursor)
  $before = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  rankline ${completing} @before "+$current" 2> $null | ForEach-Object {
    $word, $meaning = $_ -split "\`t", 2
    if ($word -eq '${files}') { [System.Management.Automation.CompletionCompleters]::CompleteFilename($current) }
    else {
      $shown = if ($meaning) { $meaning } else { $word }
      [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $shown)
    }
  }
}
`,
} as const

type Shell = keyof typeof scripts
const shells = Object.keys(scripts) as readonly Shell[]

export const completionCommand = {
  flags: {},
  words: shells,
  exits: [0, 1, 2],
  docs: 'docs/install.md',
  examples: [
    ['source <(rankline completion bash)', 'in ~/.bashrc'],
    ['rankline completion zsh > ~/.zfunc/_rankline', 'a folder of $fpath'],
    ['rankline completion fish > ~/.config/fish/completions/rankline.fish', 'fish'],
    ['rankline completion powershell | Out-String | Invoke-Expression', 'in $PROFILE of PowerShell'],
  ],
  run: completion,
} satisfies Command

/** `rankline completion`: the script of a shell; bash where none is named and the environment names no other. */
export async function completion(
  { shell = 'bash' }: TypedOptions<OptionSpecs> & { readonly shell?: string },
  terminal: Terminal,
): Promise<number> {
  const known = shells.find((one) => one === shell.toLowerCase())
  if (known === undefined) {
    const near = closestMatch(shell, shells)
    throw new UsageError(
      `There is no completion for '${shell}'. ${near === null ? `Write one of ${shells.join(', ')}` : `Did you mean ${near}?`}`,
    )
  }
  await terminal.write(scripts[known])
  return 0
}

/** One word that can stand at the cursor. */
interface CompletionWord {
  readonly word: string
  readonly meaning?: string
}

/**
 * Prints what can stand at the cursor, a line each: the word, a tab, what it means.
 *
 * @param typed the words before the cursor, and last the one at the cursor, behind a `+` so that it is never empty
 */
export async function complete(
  commands: readonly Registered[],
  typed: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const words = joined([...typed.slice(0, -1), typed.at(-1)?.slice(1) ?? ''])
  const current = words.at(-1) ?? ''
  const lines = (await candidates(commands, words.slice(0, -1), current))
    .filter(({ word }) => word === files || word.startsWith(current))
    .map(({ word, meaning }) => (meaning === undefined ? word : `${word}\t${meaning}`))
  if (lines.length > 0) await terminal.write(`${lines.map(sanitizeWord).join('\n')}\n`)
  return 0
}

function sanitizeWord(line: string): string {
  return line.split('\t').map(sanitizeLine).join('\t')
}

/** The words as they were typed: bash makes three of `--flag=value`. */
function joined(words: readonly string[]): readonly string[] {
  const whole: string[] = []
  for (const word of words) {
    const last = whole.at(-1)
    if (last?.startsWith('--') && (word === '=' || /^--[\w-]+=$/.test(last)))
      whole[whole.length - 1] = last + word
    else whole.push(word)
  }
  return whole
}

async function candidates(
  commands: readonly Registered[],
  before: readonly string[],
  current: string,
): Promise<readonly CompletionWord[]> {
  const registered = before.flatMap((word) => commands.find((one) => commandName(one) === word) ?? [])[0]
  if (registered === undefined)
    return current.startsWith('-')
      ? flagNames(sharedFlags.global, before)
      : commands.map((one) => ({ word: commandName(one), meaning: one.describe }))
  const command = await registered.load()
  const known: OptionSpecs = { ...sharedFlags.global, ...command.flags }
  const [, named] = current.match(/^--([\w-]+)=/) ?? []
  if (named !== undefined)
    return (await valuesOf(named, known[named])).map(({ word, meaning }) => ({
      word: word === files ? files : `--${named}=${word}`,
      ...(meaning === undefined ? {} : { meaning }),
    }))
  const [, long, letter] = before.at(-1)?.match(/^--([\w-]+)$|^-(\w)$/) ?? []
  const asked = flagNamed(long ?? letter ?? '', known)
  if (asked !== undefined && asked.kind !== 'switch')
    return await valuesOf(Object.keys(known).find((name) => known[name] === asked) ?? '', asked)
  if (current.startsWith('-')) return flagNames(known, before)
  return await argumentsOf(registered.usage, command, argumentsAfter(before, known))
}

/** How many arguments stand behind the name of the command. */
function argumentsAfter(before: readonly string[], known: OptionSpecs): number {
  const plain = before.filter((word, index) => {
    const [, long, letter] = before[index - 1]?.match(/^--([\w-]+)$|^-(\w)$/) ?? []
    const flag = flagNamed(long ?? letter ?? '', known)
    return !word.startsWith('-') && (flag === undefined || flag.kind === 'switch')
  })
  return plain.length - 1
}

function flagNames(flags: OptionSpecs, before: readonly string[]): readonly CompletionWord[] {
  const known: OptionSpecs = { ...flags, help: switchOption('Show help') }
  return Object.entries(known)
    .filter(([name, { kind }]) => kind === 'list' || !before.includes(`--${name}`))
    .map(([name, { help }]) => ({ word: `--${name}`, meaning: help }))
}

async function valuesOf(name: string, flag: OptionSpec | undefined): Promise<readonly CompletionWord[]> {
  if (flag?.values !== undefined) return flag.values.map((word) => ({ word }))
  if (name === 'operation') return operationNames()
  if (name === 'job') return await jobNames()
  return [{ word: files }]
}

function operationNames(): readonly CompletionWord[] {
  return operations.flatMap(({ name, title, billable }) => (billable ? [{ word: name, meaning: title }] : []))
}

async function argumentsOf(
  usage: string,
  command: Command,
  index: number,
): Promise<readonly CompletionWord[]> {
  const places = usage.split(' ').slice(1)
  const last = places.at(-1)
  const place = places[index] ?? (last?.includes('..') ? last : undefined)
  if (place === undefined) return []
  if (index === 0 && command.words !== undefined) return command.words.map((word) => ({ word }))
  if (/job/.test(place)) return [...(await jobNames()), { word: files }]
  return /file|dir/.test(place) ? [{ word: files }] : []
}

/** The names of the jobs of the usual database; none where it cannot be read. */
async function jobNames(): Promise<readonly CompletionWord[]> {
  try {
    const { openReader } = await import('../../../store/sqlite/open.ts')
    await using store = await openReader(databaseFile.path({}))
    return (await store.jobNames()).map((word) => ({ word }))
  } catch {
    return []
  }
}
