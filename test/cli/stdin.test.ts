import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markText, unmarked } from '../../src/cli/main.ts'
import { listOption, switchOption, textOption } from '../../src/model/values.ts'
import type { Workspace } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'

let staged: Stage
let place: Workspace
beforeAll(async () => {
  staged = await stage()
  place = staged.place
})
afterAll(() => staged[Symbol.asyncDispose]())

describe('a job on standard input', () => {
  test('is a CSV that needs a name, and the same name goes on with it', async () => {
    await place.file('beside.csv', 'query\nbeside\n')
    const csv = 'query,gl\none,us\ntwo,us\n'
    const first = await place.run(['run', '-', '--name', 'piped', '--max-credits', '1'], {}, csv)
    expect(first.code).toBe(4)
    const second = await place.call(['run', '-', '--name', 'piped', '--max-credits', '9', '--json'], {}, csv)
    expect(second.code).toBe(0)
    expect(JSON.parse(second.stdout)).toMatchObject({ run: 1, job: 'piped', tasks: { done: 2 } })

    // A file of that name is no second file, and once it has the name what is piped may follow it.
    expect((await place.call(['run', 'beside.csv', '--name', 'piped'])).code).toBe(0)
    expect((await place.call(['plan', '-', '--name', 'piped'], {}, csv)).code).toBe(0)
    await place.file('other.csv', 'query\nother\n')
    expect((await place.call(['plan', 'other.csv', '--name', 'piped'])).stderr).toMatch(
      /belongs to beside\.csv/,
    )
  })

  test('is YAML where it is a map; CSV files that it names lie in the working directory', async () => {
    await place.file('words.csv', 'query\nof a file\n')
    const yaml = '# words\n\nname: mapped\nqueries:\n  - written\n  - file: words.csv\n'
    const { code, stdout } = await place.call(['plan', '-', '--json'], {}, yaml)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ job: 'mapped', tasks: { planned: 2 } })
  })

  test.each<[string, readonly string[], string, string]>([
    [
      'CSV without a name',
      ['run', '-'],
      'query\na\n',
      'stdin: the job has no name; give it one with --name\n',
    ],
    [
      'YAML without a name',
      ['run', '-'],
      'queries: [a]\n',
      "stdin: the job has no name; give it one with 'name:' or --name\n",
    ],
    [
      'a wrong cell',
      ['plan', '-', '--name', 'x'],
      'query,gl\na,usa\n',
      "stdin:2: gl cannot be 'usa'; write a two-letter country code such as us\n",
    ],
    [
      'the name of another job of the command',
      ['plan', 'words.csv', '-'],
      'name: words\nqueries: [a]\n',
      "stdin: the job name 'words' belongs to words.csv already; give one of them another name with name: (or --name)\n",
    ],
  ])('is told its place: %s', async (_, args, input, stderr) => {
    expect(await place.call(args, {}, input)).toEqual({ code: 2, stdout: '', stderr })
  })
})

test('a query that begins with - is asked as it stands', async () => {
  const searched = await place.call(['search', 'alpha.search', '--', '-x'])
  expect(searched.code).toBe(0)
  const sent = staged.sandbox.ledger.requests.findLast(({ operation }) => operation === 'alpha.search')
  expect(Object.values(sent?.params ?? {})).toContain('-x')
  const { stderr } = await place.call(['report', 'piped', '--explain', '-one'])
  expect(stderr).toContain("never asked for '-one'. Did you mean 'one'?")
})

describe('arguments that begin with -', () => {
  const flags = {
    query: textOption(''),
    param: { ...listOption(''), alias: 'p' },
    out: textOption(''),
    json: switchOption(''),
  }

  test.each<[string, string]>([
    ['run -', 'run \0-'],
    ['search op -- -x', 'search op \0-x'],
    ['search op -- --json plain', 'search op \0--json plain'],
    ['diff job --query -x --json', 'diff job --query=-x --json'],
    ['diff job --query -x -y', 'diff job --query=-x -y'],
    ['diff job --query -', 'diff job --query=-'],
    ['diff job --query --json', 'diff job --query --json'],
    ['diff job --query -p gl=us', 'diff job --query -p gl=us'],
    ['diff job -p -x=1', 'diff job -p=-x=1'],
    ['diff job --json -x', 'diff job --json -x'],
    ['diff job --query', 'diff job --query'],
  ])('%s', (typed, marked) => {
    expect(markText(typed.split(' '), flags)).toEqual(marked.split(' '))
    expect(unmarked(marked)).toBe(marked.replaceAll('\0', ''))
  })
})
