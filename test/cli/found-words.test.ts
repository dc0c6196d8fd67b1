import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchedPart, places, soughtText, wantedWords } from '../../src/cli/commands/report/find.ts'
import { UsageError } from '../../src/model/errors.ts'
import { anyText } from '../support/any-text.ts'

const all = (text: string) => soughtText(text, places)

test.each([
  ['oak desk', '"oak" AND "desk"'],
  ['"oak desk" lamp', '"oak desk" AND "lamp"'],
  ['oak" AND desk', '"oak" AND "AND" AND "desk"'],
  ["-desk * NEAR(a b) title:x ^y it's", '"-desk" AND "NEAR(a" AND "b)" AND "title:x" AND "^y" AND "it\'s"'],
  ['"" "-" oak', '"oak"'],
])('%s is looked for as words', (text, wanted) => {
  expect(wantedWords(all(text))).toEqual({
    items: `{title snippet} : (${wanted})`,
    links: wanted,
    texts: wanted,
  })
})

test('only where it is asked for', () => {
  expect(wantedWords(soughtText('a', ['snippets']))).toEqual({
    items: '{snippet} : ("a")',
    links: null,
    texts: null,
  })
  expect(wantedWords(soughtText('a', ['links', 'ai']))).toEqual({ items: null, links: '"a"', texts: '"a"' })
})

test('any text is either refused with a sentence or read by FTS5, which finds the text that it is', () => {
  const db = new Database(':memory:')
  db.exec(`CREATE VIRTUAL TABLE words USING fts5(title, snippet, tokenize='unicode61 remove_diacritics 2')`)
  const add = db.prepare('INSERT INTO words (title) VALUES (?)')
  const look = db.prepare('SELECT count(*) FROM words WHERE words MATCH ?').pluck()
  const asked = fc.oneof(
    anyText(),
    fc
      .array(
        fc.constantFrom(
          '"',
          'AND',
          'OR',
          'NOT',
          'NEAR(',
          '*',
          '^',
          ':',
          '{title}',
          '-',
          '+',
          'oak',
          'é',
          '\0',
        ),
      )
      .map((parts) => parts.join(' ')),
  )
  fc.assert(
    fc.property(asked, (text) => {
      let wanted: string | null = null
      try {
        wanted = wantedWords(all(text)).items
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError)
        return
      }
      db.exec('DELETE FROM words')
      add.run(text.replaceAll('\0', ' '))
      expect(look.get(wanted)).toBe(1)
    }),
  )
  db.close()
})

const said = { title: 'Best Café Tables', snippet: null, link: 'https://a.example/oak-desk', text: null }

test.each([
  ['cafe tables', { place: 'titles', part: 'Best Café Tables' }],
  ['"OAK desk"', { place: 'links', part: 'https://a.example/oak-desk' }],
  ['"oak table"', null],
])('the part that has %s', (text, wanted) => {
  expect(matchedPart(said, all(text))).toEqual(wanted)
})

test('a part of a long text begins at a word before what was found, and is cut on both sides', () => {
  const text = `${'lorem '.repeat(40)}the 😀 oak desk ${'ipsum '.repeat(40)}`
  const found = matchedPart({ ...said, title: null, text }, all('oak'))
  expect(found?.place).toBe('links')
  const { part } = matchedPart({ ...said, title: null, link: null, text }, all('oak')) ?? { part: '' }
  expect(part).toMatch(/^…lorem lorem the 😀 oak desk ipsum .*…$/)
  expect(Array.from(part).length).toBeLessThanOrEqual(72)
})
