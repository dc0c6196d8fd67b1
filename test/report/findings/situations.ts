import type { Facts } from '../../../src/report/findings/facts.ts'
import { march } from '../metrics/history.ts'
import { days, historyOf, jobOf, out, some, then, unknown, waves } from './job.ts'

const tenSteady = some(10, { own: 2, rival: 5 })
const grown = (n: number) => some(n, { own: then(9, 2), rival: 5 })

export const situations: readonly (readonly [title: string, facts: () => Facts])[] = [
  ['a job that has not run', () => jobOf({ keywords: [], length: 0 })],
  ['no targets', () => ({ ...jobOf({ keywords: [] }), history: { ...historyOf({ keywords: [] }), days: [march(1)] } })],
  ['all steady', () => jobOf({ keywords: tenSteady })],
  ['steady alone', () => jobOf({ keywords: some(10, { own: 2 }) })],
  ['half of them rose', () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...grown(5)] })],
  [
    'half of them fell',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: then(2, 9), rival: 5 })] }),
  ],
  [
    'fell out of the top 10',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: then(8, 19), rival: 5 })] }),
  ],
  [
    'left the results',
    () =>
      jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: then(8, out), rival: 5 })] }),
  ],
  [
    'swings',
    () => jobOf({ keywords: [...some(9, { own: 2, rival: 5 }), { own: waves(1, 2, 1, 3), rival: 5 }] }),
  ],
  [
    'swings much',
    () => jobOf({ keywords: some(10, { own: waves(3, 6, 2, 5, 3), rival: waves(5, 9, 5, 7) }) }),
  ],
  ['rival passed', () => jobOf({ keywords: some(10, { own: 3, rival: then(7, 1) }) })],
  ['rival passed, own fell', () => jobOf({ keywords: some(10, { own: then(2, 9), rival: 5 }) })],
  ['own passed rival', () => jobOf({ keywords: some(10, { own: then(9, 2), rival: 5 }) })],
  ['rival fell behind', () => jobOf({ keywords: some(10, { own: 3, rival: then(1, 9) }) })],
  ['rival rose, still behind', () => jobOf({ keywords: some(10, { own: 1, rival: then(9, 4) }) })],
  ['rival rose, further ahead', () => jobOf({ keywords: some(10, { own: 8, rival: then(4, 1) }) })],
  ['rival fell, still ahead', () => jobOf({ keywords: some(10, { own: 8, rival: then(1, 4) }) })],
  ['level', () => jobOf({ keywords: some(10, { own: 4, rival: then(9, 4) }) })],
  ['two rivals', () => jobOf({ keywords: some(10, { own: 4, rival: then(6, 5), other: then(9, 2) }) })],
  [
    'rival for other keywords',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 4, rival: then(9, 2) })] }),
  ],
  [
    'weak tag',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: 4, tags: ['brand'] }),
          ...some(8, { own: then(3, 9), tags: ['price'] }),
        ],
      }),
  ],
  [
    'two tags',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: then(6, 2), tags: ['brand'] }),
          ...some(8, { own: then(3, 9), tags: ['price'] }),
        ],
      }),
  ],
  ['tag on all', () => jobOf({ keywords: some(10, { own: then(6, 2), tags: ['brand'] }) })],
  [
    'tag of few',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: 4, tags: ['brand'] }),
          ...some(3, { own: then(3, 9), tags: ['price'] }),
        ],
      }),
  ],
  [
    'volumes, rose',
    () =>
      jobOf({
        keywords: [...some(10, { own: 4, volume: 1000 }), ...some(3, { own: then(9, 3), volume: 5000 })],
      }),
  ],
  ['volumes, steady', () => jobOf({ keywords: some(10, { own: 4, volume: 1000 }) })],
  [
    '7 not checked',
    () =>
      jobOf({
        keywords: [
          ...some(73, { own: 4, rival: 6 }),
          ...some(7, { own: then(4, unknown, 1), rival: then(6, unknown, 1) }),
        ],
      }),
  ],
  ['last day unknown', () => jobOf({ keywords: some(80, { own: then(4, unknown, 1) }) })],
  [
    'last days partial',
    () => jobOf({ keywords: [...some(50, { own: then(4, unknown, 3) }), ...some(30, { own: 4 })] }),
  ],
  ['always unknown', () => jobOf({ keywords: some(80, { own: unknown }) })],
  ['nothing ranks', () => jobOf({ keywords: some(80, { own: out, rival: 3 }) })],
  [
    'nothing ranks any more',
    () =>
      jobOf({
        keywords: [...some(70, { own: out, rival: 3 }), ...some(10, { own: then(12, out), rival: 3 })],
      }),
  ],
  ['nothing ranks, no rival', () => jobOf({ keywords: some(80, { own: out }) })],
  ['nothing ranks, first day', () => jobOf({ keywords: some(80, { own: out }), length: 1 })],
  ['depths differ', () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: -51 })] })],
  [
    'low ranks, better',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: then(25, 14) })] }),
  ],
  [
    'low ranks, worse',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: then(14, 25) })] }),
  ],
  ['first day', () => jobOf({ keywords: tenSteady, length: 1 })],
  [
    'first day, tags, volumes',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: 4, tags: ['brand'], volume: 100, rival: 2 }),
          ...some(8, { own: 9, volume: 300, tags: ['price'], rival: 3 }),
        ],
        length: 1,
      }),
  ],
  ['two days', () => jobOf({ keywords: some(10, { own: [4, 2], rival: 5 }), length: 2 })],
  [
    'two days, tiny change',
    () => jobOf({ keywords: [...some(99, { own: 4, rival: 5 }), { own: [4, 3], rival: 5 }], length: 2 }),
  ],
  [
    'history begins later',
    () => jobOf({ keywords: some(10, { own: 4 }), length: 9, compare: { day: '2026-02-09', tolerance: 7 } }),
  ],
  [
    'not checked then',
    () => jobOf({ keywords: some(10, { own: [...Array(20).fill(0), ...Array(9).fill(4)] }) }),
  ],
  [
    'compared day missing',
    () =>
      jobOf({
        keywords: some(10, { own: [null, null, ...Array(27).fill(4)] }),
        compare: { day: march(1), tolerance: 3 },
      }),
  ],
  ['one keyword', () => jobOf({ keywords: [{ query: 'oak desk', own: then(7, 4), rival: 2 }] })],
  ['one keyword, left', () => jobOf({ keywords: [{ query: 'oak desk', own: then(7, out) }] })],
  ['one keyword, entered', () => jobOf({ keywords: [{ query: 'oak desk', own: then(out, 12) }] })],
  ['one keyword, unknown', () => jobOf({ keywords: [{ query: 'oak desk', own: then(4, unknown) }] })],
  ['one keyword, one day', () => jobOf({ keywords: [{ query: 'oak desk', own: 4 }], length: 1 })],
  ['one keyword, absent', () => jobOf({ keywords: [{ query: 'oak desk', own: out }] })],
  ['one keyword same', () => jobOf({ keywords: [{ query: 'oak desk', own: 1 }] })],
  ['three keywords', () => jobOf({ keywords: [{ own: then(7, 4) }, { own: then(4, 5) }, { own: out }] })],
  [
    'only competitors',
    () => jobOf({ keywords: some(10, { rival: then(7, 2), other: 3 }), target: 'rival.com' }),
  ],
  [
    'of a competitor',
    () => jobOf({ keywords: some(10, { own: 4, rival: then(7, 2), other: 3 }), target: 'rival.com' }),
  ],
  [
    'AI answers',
    () =>
      jobOf({
        keywords: [
          ...some(12, { kind: 'reference', operation: 'alpha.ai', own: 2, rival: then(out, 3) }),
          ...some(28, { kind: 'reference', operation: 'alpha.ai', own: out, rival: 2 }),
        ],
      }),
  ],
  [
    'AI answers, more',
    () =>
      jobOf({
        keywords: [
          ...some(12, { kind: 'reference', operation: 'alpha.ai', own: then(out, 2) }),
          ...some(28, { kind: 'reference', operation: 'alpha.ai', own: out }),
        ],
      }),
  ],
  [
    'AI answers, none',
    () => jobOf({ keywords: some(28, { kind: 'reference', operation: 'alpha.ai', own: -9 }) }),
  ],
  [
    'two engines',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 1, operation: 'beta.search' })] }),
  ],
  [
    'added',
    () => jobOf({ keywords: [...some(10, { own: then(6, 4) }), ...some(4, { own: then(null, 1) })] }),
  ],
  [
    'mostly added',
    () => jobOf({ keywords: [...some(3, { own: then(6, 4) }), ...some(40, { own: then(null, 1) })] }),
  ],
  [
    'partial days',
    () => jobOf({ keywords: [...some(4, { own: 4 }), ...some(8, { own: waves(4, 4, 4, 0, 4) })] }),
  ],
  [
    'in and out',
    () =>
      jobOf({
        keywords: [
          ...some(6, { own: 4 }),
          ...some(3, { own: then(9, 12) }),
          ...some(3, { own: then(12, 9) }),
        ],
      }),
  ],
  [
    'one came in',
    () => jobOf({ keywords: [...some(6, { own: 4 }), { query: 'oak desk', own: then(12, 3) }] }),
  ],
  ['a year', () => jobOf({ keywords: some(10, { own: then(9, 4, 100, 366) }), length: 366 })],
]
void days
