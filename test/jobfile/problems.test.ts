import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readJob } from './reading.ts'

interface Case {
  readonly text: string
  readonly problems: string[]
}

/** The cases of `problems.txt` by the name of their file. */
const sections = readFileSync(new URL('problems.txt', import.meta.url), 'utf8')
  .split(/^\[(?=[\w.]+\]$)/m)
  .slice(1)
  .map((section): [string, readonly Case[]] => {
    const [head = '', ...lines] = section.trimEnd().split('\n')
    const name = head.slice(0, -1)
    const cases: Case[] = []
    for (const line of lines)
      if (line.startsWith('  ')) cases.at(-1)?.problems.push(name + line.slice(2))
      else cases.push({ text: JSON.parse(`"${line.replaceAll('"', '\\"')}"`) as string, problems: [] })
    return [name, cases]
  })

test.each(sections)('what is wrong in %s is said with its place', async (name, cases) => {
  expect(cases.length).toBeGreaterThan(10)
  const said: Case[] = []
  for (const { text } of cases) said.push({ text, problems: [...(await readJob({ [name]: text })).problems] })
  expect(said).toEqual(cases)
})
