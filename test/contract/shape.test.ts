import { expect } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { differences, type Shape } from './shape.ts'

const person: Shape = { fields: { name: 'text', age: { orNull: 'integer' } }, optional: { home: 'url' } }

testTable<[string, Shape, unknown, readonly string[]]>([
  ['all that is documented', person, { name: 'a', age: 1, home: 'https://a.com' }, []],
  ['no optional field, and a null', person, { name: 'a', age: null }, []],
  ['a missing field', person, { name: 'a' }, ['answer.age is missing']],
  ['a further field', person, { name: 'a', age: 1, hat: 1 }, ['answer.hat is not documented']],
  ['a null', person, { name: null, age: 1 }, ['answer.name is no text']],
  ['half an integer', person, { name: 'a', age: 1.5 }, ['answer.age is no integer']],
  ['a number as text', 'number', '1', ['answer is no number']],
  ['text for a boolean', 'boolean', 'true', ['answer is no boolean']],
  ['a path for a URL', 'url', '/a', ['answer is no url']],
  ['a day in words', 'date', 'today', ['answer is no date']],
  ['a list for an object', person, [], ['answer is no object']],
  ['an object for a list', { list: 'text' }, {}, ['answer is no list']],
  ['one bad item', { list: 'text' }, ['a', 1], ['answer[1] is no text']],
  ['one bad value', { values: 'text' }, { a: 'a', b: 1 }, ['answer.b is no text']],
  ['another value', { only: ['a'] }, 'b', ['answer cannot be "b"']],
  ['the second of two shapes', { anyOf: ['text', 'integer'] }, 1, []],
  [
    'neither of two shapes',
    { anyOf: ['text', 'integer'] },
    null,
    ['answer is no text', 'answer is no integer'],
  ],
])('a shape is held against %s', (_, shape, value, found) => {
  expect(differences(shape, value)).toEqual(found)
})
