import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commentOf, isTooDeep, looksTooDeep } from '../../../src/report/presentation/comment.ts'
import { testTable } from '../../support/test-table.ts'

const htmlOf = (markdown: string): string => commentOf(markdown).html

testTable([
  ['A *good* **month**.', '<p>A <em>good</em> <strong>month</strong>.</p>'],
  ['# October\n## Desks', '<h3>October</h3>\n<h4>Desks</h4>'],
  ['1. one\n2. two', '<ol>\n<li>one</li>\n<li>two</li>\n</ol>'],
  ['7. one', '<ol start="7">\n<li>one</li>\n</ol>'],
  [
    '[Shop](https://acme.example/a?b&c "title")',
    '<p><a href="https://acme.example/a?b&amp;c" target="_blank" rel="noopener noreferrer">Shop</a></p>',
  ],
  [
    'seo@acme.example',
    '<p><a href="mailto:seo@acme.example" target="_blank" rel="noopener noreferrer">seo@acme.example</a></p>',
  ],
  [
    '| a | b |\n| - | -: |\n| 1 | 2 |',
    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align="right">2</td>\n</tr>\n</tbody>\n</table>',
  ],
  ['5 < 7 & "so"', '<p>5 &lt; 7 &amp; &quot;so&quot;</p>'],
])('a comment is Markdown: %s', (markdown, html) => {
  expect(htmlOf(markdown)).toBe(html)
})

/** What a comment may consist of, tag by tag. */
const harmless =
  /^<\/?(p|ul|ol|li|blockquote|pre|code|em|strong|del|hr|br|table|thead|tbody|tr|th|td|h[3-6]|a)>$|^<(th|td) align="(left|right|center)">$|^<ol start="\d+">$|^<a href="(https?:\/\/|mailto:)[^"<>]*" target="_blank" rel="noopener noreferrer">$/i

const foreignTags = (html: string): readonly string[] =>
  (html.match(/<[^>]*>?/g) ?? []).filter((tag) => !harmless.test(tag))

const attacks = [
  '<script>window.harmed = true</script>',
  '<img src=x onerror=alert(1)>',
  'text <b onclick="alert(1)">bold</b>',
  '![pixel](https://tracker.example/p.png)',
  '![" onerror="alert(1)](x "y")',
  '![a][b]\n\n[b]: https://tracker.example/p.png',
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt:alert(1))',
  '[a](java\nscript:alert(1))',
  '[a](&#106;avascript:alert(1))',
  '[a](data:text/html,<script>alert(1)</script>)',
  '[a](vbscript:x)',
  '[a](file:///etc/passwd)',
  '[a](//evil.example)',
  '[a](/path)',
  '[a](irc://evil.example)',
  '<javascript:alert(1)>',
  '[a](https://x.example/"onmouseover="alert(1))',
  '[a](https://x.example/<script>)',
  '[![x](https://t.example/p.png)](javascript:alert(1))',
  '[www.a.example](https://b.example)',
  '[^1]\n\n[^1]: <form action=x>',
  '- [x] <input autofocus onfocus=alert(1)>',
  '<style>body { display: none }</style>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '```"><script>\n</script><script>alert(1)\n```',
  '<!-- --><svg onload=alert(1)>',
  '<a href="javascript:alert(1)" style="position:fixed;inset:0">x</a>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u0000<script>',
]

testTable(attacks)('nothing of it runs, loads or leads to another kind of address: %j', (markdown) => {
  expect(foreignTags(htmlOf(markdown))).toEqual([])
})

test('no text makes another tag, whatever is put together', () => {
  const parts = fc.constantFrom(
    ...attacks,
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '"',
    '`',
    '\n',
    '![',
    'https://a.example',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (some) => {
      expect(foreignTags(htmlOf(some.join('')))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

testTable([
  ['quotes', '>'.repeat(10_000), true],
  ['lists in one line', '- '.repeat(10_000), true],
  [
    'a list that is indented ever more',
    Array.from({ length: 60 }, (_, n) => `${'  '.repeat(n)}- a`).join('\n'),
    true,
  ],
  ['emphasis', `${'*'.repeat(2_000)}a${'*'.repeat(2_000)}`, true],
  ['three lists', '- a\n  - b\n    1. c', false],
  ['many lists', '- a\n\n1. b\n\n'.repeat(100), false],
  ['lines', `${'-'.repeat(200)}\n\n${'*'.repeat(200)}`, false],
])('what stands too deep in each other is found: %s', (_, markdown, tooDeep) => {
  expect(looksTooDeep(markdown) || isTooDeep(commentOf(markdown))).toBe(tooDeep)
})
