import { expect, test } from 'vitest'
import { diff } from '../../../src/cli/commands/report/diff.ts'
import type { DiffDocument } from '../../../src/report/diff/serp-diff.ts'
import { webPage, work } from '../../store/answers.ts'
import { aStore, plan } from '../../store/build.ts'
import { aTerminal } from '../../support/terminal.ts'

const queries = [{ text: 'desk' }, { text: 'lamp' }, { text: 'sofa' }]

test('a diff is of one moment, whatever is collected while it is written', async () => {
  const temp = await aStore()
  const collect = async (day: number) => {
    const run = await plan(temp.store, { job: { name: 'acme' }, date: `2026-03-0${day}`, queries })
    await work(temp.store, run, () => webPage(`day-${day}`), Date.UTC(2026, 2, day))
  }
  await collect(1)
  await collect(2)
  let text = ''
  const terminal = aTerminal({
    write: async (piece) => {
      if (text === '') await collect(3)
      text += piece
    },
  })
  expect(await diff({ job: 'acme', db: temp.path, json: true }, terminal)).toBe(0)
  const documents: readonly DiffDocument[] = JSON.parse(text)
  expect(documents.map(({ from, to }) => [from?.date, to?.date])).toEqual(
    queries.map(() => ['2026-03-01', '2026-03-02']),
  )
})
