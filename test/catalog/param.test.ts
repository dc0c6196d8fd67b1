import fc from 'fast-check'
import { expect, test } from 'vitest'
import { billableOperations, gl, hl, num } from '../../src/catalog/index.ts'
import { checkParam, type Param } from '../../src/catalog/operation.ts'
import { testTable } from '../support/test-table.ts'

const text: Param = { type: 'string', meaning: '' }
const choice: Param = { type: 'string', meaning: '', values: ['active', 'off'] }
const plain: Param = { type: 'number', meaning: '' }
const latitude: Param = { type: 'number', meaning: '', min: -90, max: 90 }
const whole: Param = { type: 'integer', meaning: '' }

testTable<[string, Param, string, string | number]>([
  ['text', text, 'Austin, Texas', 'Austin, Texas'],
  ['text', text, '007', '007'],
  ['text', text, ' ', ' '],
  ['a choice', choice, 'off', 'off'],
  ['a country', gl, 'us', 'us'],
  ['a country', gl, 'US', 'US'],
  ['a language', hl, 'en', 'en'],
  ['a language', hl, 'pt-BR', 'pt-BR'],
  ['a language', hl, 'fil', 'fil'],
  ['a page size', num, '1', 1],
  ['a page size', num, '100', 100],
  ['a page size', num, '020', 20],
  ['a whole number', whole, '-3', -3],
  ['a whole number', whole, '+3', 3],
  ['a whole number', whole, '2.0', 2],
  ['a number', plain, '1.5', 1.5],
  ['a number', plain, '.5', 0.5],
  ['a latitude', latitude, '-90', -90],
  ['a latitude', latitude, '90', 90],
  ['a latitude', latitude, '30.2672', 30.2672],
])('as %s the text is read', (_, param, written, value) => {
  expect(checkParam(param, written)).toEqual({ value })
})

testTable<[string, Param, string, string]>([
  ['text', text, '', 'is empty; give it a value or leave it out'],
  ['a number', plain, '', 'is empty; give it a value or leave it out'],
  ['a choice', choice, 'on', "cannot be 'on'; write one of active, off"],
  ['a choice', choice, 'OFF', "cannot be 'OFF'; write one of active, off"],
  ['a country', gl, 'usa', "cannot be 'usa'; write a two-letter country code such as us"],
  ['a country', gl, 'u1', "cannot be 'u1'; write a two-letter country code such as us"],
  ['a country', gl, 'us\n', "cannot be 'us\n'; write a two-letter country code such as us"],
  ['a language', hl, 'english', "cannot be 'english'; write a two-letter language code such as en"],
  ['a language', hl, 'en_US', "cannot be 'en_US'; write a two-letter language code such as en"],
  ['a page size', num, '0', 'cannot be 0; write a whole number from 1 up'],
  ['a page size', num, '-1', 'cannot be -1; write a whole number from 1 up'],
  ['a page size', num, '1.5', 'cannot be 1.5; write a whole number from 1 up'],
  ['a page size', num, 'ten', "cannot be 'ten'; write a whole number from 1 up"],
  ['a page size', num, '1e2', "cannot be '1e2'; write a whole number from 1 up"],
  ['a page size', num, '0x10', "cannot be '0x10'; write a whole number from 1 up"],
  ['a page size', num, ' 10', "cannot be ' 10'; write a whole number from 1 up"],
  ['a page size', num, '1,000', "cannot be '1,000'; write a whole number from 1 up"],
  ['a page size', num, '١٠', "cannot be '١٠'; write a whole number from 1 up"],
  ['a whole number', whole, '9007199254740993', 'cannot be 9007199254740993; write a whole number'],
  ['a number', plain, 'Infinity', "cannot be 'Infinity'; write a number"],
  ['a number', plain, 'NaN', "cannot be 'NaN'; write a number"],
  ['a number', plain, '.', "cannot be '.'; write a number"],
  ['a number', plain, '-', "cannot be '-'; write a number"],
  ['a number', plain, '1.2.3', "cannot be '1.2.3'; write a number"],
  ['a latitude', latitude, '90.1', 'cannot be 90.1; write a number from -90 to 90'],
  ['a latitude', latitude, '-91', 'cannot be -91; write a number from -90 to 90'],
])('as %s a text has its problem', (_, param, written, problem) => {
  const [message, fix] = problem.split('; ')
  expect(checkParam(param, written)).toEqual({ message, fix })
})

test('a value that was read is read again from its own text', () => {
  const params = billableOperations.flatMap((operation) => Object.values(operation.params))
  fc.assert(
    fc.property(
      fc.constantFrom(...params),
      fc.oneof(fc.string(), fc.double().map(String)),
      (param, written) => {
        const first = checkParam(param, written)
        if ('value' in first) expect(checkParam(param, String(first.value))).toEqual(first)
        else expect(first.message).toMatch(/^(cannot be|is empty)/)
      },
    ),
  )
})
