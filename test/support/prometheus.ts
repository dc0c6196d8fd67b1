import { spawnSync } from 'node:child_process'

/** One line with a value of the text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Reads the text format of Prometheus character by character, as its documentation describes it and knowing nothing of the
 * writer; throws at what it does not allow.
 */
export function parseMetrics(text: string): readonly Sample[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  const typed = new Set<string>()
  const ended = new Set<string>()
  const samples: Sample[] = []
  let current = ''
  for (const line of text.split('\n').slice(0, -1)) {
    const about = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line)
    const name = about?.[2] ?? /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0]
    if (name === undefined) throw new Error(`no metric in: ${line}`)
    if (name !== current) {
      if (ended.has(name)) throw new Error(`${name} stands in two places`)
      ended.add(current)
      current = name
    }
    if (about?.[1] === 'TYPE') {
      if (about[3] !== 'gauge') throw new Error(`no gauge: ${line}`)
      typed.add(name)
    }
    if (about !== null) continue
    if (!typed.has(name)) throw new Error(`${name} has no type`)
    samples.push({ name, ...labelsAndValue(line.slice(name.length)) })
  }
  return samples
}

function labelsAndValue(rest: string): Omit<Sample, 'name'> {
  const labels: Record<string, string> = Object.create(null)
  let at = 0
  if (rest[at] === '{') {
    at++
    while (rest[at] !== '}') {
      const name = /^[a-zA-Z_][a-zA-Z0-9_]*="/.exec(rest.slice(at))?.[0]
      if (name === undefined) throw new Error(`no label at ${at} of: ${rest}`)
      at += name.length
      let value = ''
      for (; rest[at] !== '"'; at++) {
        if (at >= rest.length) throw new Error(`a label without an end: ${rest}`)
        if (rest[at] !== '\\') value += rest[at]
        else {
          const escaped = { '\\': '\\', '"': '"', n: '\n' }[rest[++at] as string]
          if (escaped === undefined) throw new Error(`no such escape: ${rest}`)
          value += escaped
        }
      }
      at++
      labels[name.slice(0, -2)] = value
      if (rest[at] === ',') at++
    }
    at++
  }
  // A timestamp would be a second number.
  const number = /^ (-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?)$/.exec(rest.slice(at))?.[1]
  if (number === undefined) throw new Error(`no value alone in: ${rest}`)
  return { labels, value: Number(number) }
}

/** Whether Prometheus's own tool is installed; where changes are checked, it must be. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool && process.env.CI === 'true') throw new Error('promtool is missing: .ci/run downloads it')

/** What `promtool check metrics` has to say; empty where all is well. */
export function promtoolSays(text: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text })
  return status === 0 ? `${stdout}${stderr}` : `exit ${status}: ${stdout}${stderr}`
}
