import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSeconds, readTotal } from '../../src/catalog/answers.ts'
import { testTable } from '../support/test-table.ts'

testTable<[language: string | null, value: unknown, total: number | null]>([
  [null, 1200, 1200],
  [null, 0, 0],
  [null, -1, null],
  [null, 1.5, null],
  [null, Number.NaN, null],
  [null, 2 ** 53, null],
  [null, '1200', 1200],
  [null, ' 1200 ', 1200],
  [null, '٣٤٥', 345],
  [null, '0', 0],
  [null, '', null],
  [null, null, null],
  [null, undefined, null],
  [null, [1200], null],
  [null, '1,200', null],
  [null, '1.200', null],
  [null, '1,230,000', 1_230_000],
  [null, '1.230.000', 1_230_000],
  [null, 'About 1,230,000 results (0.42 seconds)', 1_230_000],
  ['en', '1,200', 1200],
  ['en', '1.200', null],
  ['en', '12,00', null],
  ['en', '1,2000', null],
  ['en', '0,123', null],
  ['en', '1,230.50', null],
  ['en', '1,230.000', null],
  ['en', 'About 1,230,000 results', 1_230_000],
  ['en', 'About 1,230,000 results (0.42 seconds)', 1_230_000],
  ['en', '1 result', 1],
  ['en', 'Page 2 of about 1,230 results (0.30 seconds)', 1230],
  ['en', '1-10 of 1,230 results', 1230],
  ['en', '10 results of 1,230 results', null],
  ['en', 'Page 2', null],
  ['en', 'about 1,230', null],
  ['en', '1.2M', null],
  ['en', '1.2M results', null],
  ['en', '12K results', null],
  ['en', '3 million results', null],
  ['en', '1,000+ results', null],
  ['en', '-5 results', null],
  ['en', '.5 results', null],
  ['en', '1,23,000 results', 123_000],
  ['en', 'No results', null],
  ['hi', 'लगभग 1,23,000 परिणाम', 123_000],
  ['de', 'Ungefähr 1.230.000 Ergebnisse (0,42 Sekunden)', 1_230_000],
  ['de', 'Ungefähr 1.230 Ergebnisse', 1230],
  ['de', 'Ungefähr 1,230 Ergebnisse', null],
  ['de', 'Seite 2 von ungefähr 1.230 Ergebnissen', 1230],
  ['fr', 'Environ 1\u202f230\u202f000 résultats (0,42 secondes)', 1_230_000],
  ['fr', '1 230 000 résultats', 1_230_000],
  ['fr', '1\u00a0230 résultats', 1230],
  [null, '1\u00a0230 résultats', 1230],
  ['en', '1 230 results', null],
  ['es', 'Cerca de 1.230.000 resultados (0,42 segundos)', 1_230_000],
  ['es-MX', 'Cerca de 1,230 resultados', 1230],
  ['pt-BR', 'Aproximadamente 1.230 resultados (0,30 segundos)', 1230],
  ['it', 'Circa 1.230 risultati', 1230],
  ['nl', 'Ongeveer 1.230 resultaten', 1230],
  ['sv', 'Ungefär 1 230 resultat', 1230],
  ['da', 'Ca. 1.230 resultater', 1230],
  ['pl', 'Około 1 230 wyników', 1230],
  ['cs', 'Přibližný počet výsledků: 1 230', null],
  ['ru', 'Результатов: примерно 1 230', null],
  ['ru', 'Примерно 1 230 результатов', 1230],
  ['tr', 'Yaklaşık 1.230 sonuç bulundu', 1230],
  ['ja', '約 1,230 件 （0.42 秒）', 1230],
  ['ja', '約 123万 件', null],
  ['ko', '검색결과 약 1,230개', 1230],
  ['ko', '3개월', null],
  ['zh-CN', '找到约 1,230,000 条结果 （用时 0.42 秒）', 1_230_000],
  ['zh-TW', '約有 1,230 項結果', 1230],
  ['ar', 'حوالى ١٬٢٣٠٬٠٠٠ نتيجة', 1_230_000],
  ['ar', 'حوالى 1,230 نتيجة', 1230],
  ['th', 'ผลการค้นหาประมาณ 1,230 รายการ', 1230],
  ['vi', 'Khoảng 1.230 kết quả', 1230],
  ['de-CH', '1’230 Ergebnisse', 1230],
])('of %s, %o is %o', (language, value, total) => {
  expect(readTotal(value, language)).toBe(total)
})

testTable<[unknown, number | null]>([
  [0.42, 0.42],
  [0, 0],
  [-1, null],
  [Number.POSITIVE_INFINITY, null],
  ['0.42', 0.42],
  ['0,42', 0.42],
  [' 0,42 ', 0.42],
  ['٠.٤٢', 0.42],
  ['1', 1],
  ['1,200', null],
  ['1.200', 1.2],
  ['0.42 seconds', null],
  ['1e3', null],
  ['', null],
  [null, null],
])('%o are %o seconds', (value, seconds) => {
  expect(readSeconds(value)).toBe(seconds)
})

test('a number in the words of its language is read back', () => {
  const languages: Readonly<Record<string, string>> = {
    en: 'results',
    de: 'Ergebnisse',
    fr: 'résultats',
    es: 'resultados',
    sv: 'resultat',
    pl: 'wyników',
    ru: 'результатов',
    ja: '件',
    hi: 'परिणाम',
    ar: 'نتيجة',
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(languages)),
      fc.nat({ max: 2_000_000_000 }),
      (language, total) => {
        const text = `${new Intl.NumberFormat(language).format(total)} ${languages[language]}`
        expect([text, readTotal(text, language)]).toEqual([text, total])
      },
    ),
  )
})

test('whatever is written, a total is a whole number or none', () => {
  const pieces = fc.array(
    fc.constantFrom('1', '230', '000', ',', '.', ' ', "'", ' results', 'K', '(', ')', '-'),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.jsonValue(),
        pieces.map((parts) => parts.join('')),
      ),
      (value) => {
        const total = readTotal(value, 'en')
        expect(total === null || (Number.isSafeInteger(total) && total >= 0)).toBe(true)
      },
    ),
  )
})
