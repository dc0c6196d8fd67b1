import { aSerp, march } from '../metrics/history.ts'
import { days, historyOf, jobOf, out, some, type ToldJob, turn, unknown, waves } from './job.ts'

const tenSteady = some(10, { own: 2, rival: 5 })
const grown = (n: number) => some(n, { own: turn(9, 2), rival: 5 })

/** Good at both ends, otherwise between them. */
const valley = (ends: number, between: number) =>
  Array.from({ length: days }, (_, day) => (day > 8 && day < 20 ? between : ends))

/** With the results of the first and the last day: site 1 comes to the top; targets own it where they are named. */
function withPages({ data, target }: ToldJob, targets: readonly number[] = []): ToldJob {
  const serps = data.history.series
    .filter((one) => one.target === target)
    .flatMap(({ keyword }) => [
      aSerp([2, 3, 4, 5, 1], { keyword, day: 0, targets: { 1: targets, 3: [target] } }),
      aSerp([1, 2, 3, 4, 5], { keyword, day: days - 1, targets: { 1: targets, 3: [target] } }),
    ])
  return {
    target,
    data: {
      ...data,
      serps,
      sites: ['zero', 'harbor.example', 'b.example', 'c.example', 'd.example', 'e.example'],
    },
  }
}

type Situation = readonly [
  title: string,
  job: () => ToldJob,
  english: readonly string[],
  german?: readonly string[],
]

/** Situations of a job with the sentences of its story, in English and in German. */
export const situations: readonly Situation[] = [
  [
    'a job that has not run',
    () => jobOf({ keywords: [], length: 0 }),
    ['The job has not run yet, so there are no figures.'],
    ['Der Job ist noch nicht gelaufen, deshalb gibt es keine Zahlen.'],
  ],
  [
    'no targets',
    () => jobOf({ keywords: [] }, { history: { ...historyOf({ keywords: [] }), days: [march(1)] } }),
    ['No website is tracked, so there is nothing to rank.'],
  ],
  [
    'all steady',
    () => jobOf({ keywords: tenSteady }),
    [
      'Visibility steady at 55.1% since 1 March, first of two sites.',
      'rival.com follows with a visibility of 25.3%.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'steady alone',
    () => jobOf({ keywords: some(10, { own: 2 }) }),
    [
      'Visibility steady at 55.1% since 1 March.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit stabil bei 55,1 % seit dem 1. März.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'half of them rose',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...grown(5)] }),
    [
      'Visibility 55.1%, 22.6 points more than on 1 March, first of two sites.',
      '5 keywords rose. Biggest win: “keyword 6” 9 → 2.',
      'rival.com follows with a visibility of 25.3%.',
    ],
  ],
  [
    'half of them fell',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(2, 9), rival: 5 })] }),
    [
      'Visibility 32.5%, 22.6 points less than on 1 March, first of two sites.',
      '5 keywords fell. Biggest loss: “keyword 6” 2 → 9.',
      'rival.com follows with a visibility of 25.3%.',
    ],
  ],
  [
    'fell out of the top 10',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(8, 19), rival: 5 })] }),
    [
      'Visibility 27.5%, 5.6 points less than on 1 March, first of two sites.',
      '5 keywords fell. Biggest loss: “keyword 6” 8 → 19.',
      'rival.com follows with a visibility of 25.3%.',
    ],
    [
      'Sichtbarkeit 27,5 %, 5,6 Prozentpunkte weniger als am 1. März, Platz 1 von zwei Websites.',
      '5 Keywords sind gefallen. Größter Verlust: „keyword 6“ 8 → 19.',
      'rival.com folgt mit einer Sichtbarkeit von 25,3 %.',
    ],
  ],
  [
    'left the results',
    () =>
      jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(8, out), rival: 5 })] }),
    [
      'Visibility 27.5%, 5.6 points less than on 1 March, first of two sites.',
      '5 keywords fell. Biggest loss: “keyword 6” 8 → not found.',
      'rival.com follows with a visibility of 25.3%.',
    ],
  ],
  [
    'swings',
    () => jobOf({ keywords: [...some(9, { own: 2, rival: 5 }), { own: waves(1, 2, 1, 3), rival: 5 }] }),
    [
      'Visibility steady at 59.6% since 1 March, first of two sites.',
      'rival.com follows with a visibility of 25.3%.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'swings much',
    () => jobOf({ keywords: some(10, { own: waves(3, 6, 2, 5, 3), rival: waves(5, 9, 5, 7) }) }),
    [
      'Visibility 25.3%, 13.3 points less than on 1 March, between 17.9% and 55.1% since, first of two sites.',
      '10 keywords fell. Biggest loss: “keyword 1” 3 → 5.',
      'rival.com follows with a visibility of 25.3%.',
    ],
    [
      'Sichtbarkeit 25,3 %, 13,3 Prozentpunkte weniger als am 1. März, seither zwischen 17,9 % und 55,1 %, Platz 1 von zwei Websites.',
      '10 Keywords sind gefallen. Größter Verlust: „keyword 1“ 3 → 5.',
      'rival.com folgt mit einer Sichtbarkeit von 25,3 %.',
    ],
  ],
  [
    'rival passed',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(7, 1) }) }),
    [
      'Visibility steady at 38.6% since 1 March: from first to second of two sites, passed by rival.com (100.0%).',
      'rival.com rose from 14.0% to 100.0% visibility.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'rival passed, own fell',
    () => jobOf({ keywords: some(10, { own: turn(2, 9), rival: 5 }) }),
    [
      'Visibility 9.8%, 45.3 points less than on 1 March: from first to second of two sites, passed by rival.com (25.3%).',
      '10 keywords fell. Biggest loss: “keyword 1” 2 → 9.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'own passed rival',
    () => jobOf({ keywords: some(10, { own: turn(9, 2), rival: 5 }) }),
    [
      'Visibility 55.1%, 45.3 points more than on 1 March: from second to first of two sites, past rival.com (25.3%).',
      '10 keywords rose. Biggest win: “keyword 1” 9 → 2.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'Sichtbarkeit 55,1 %, 45,3 Prozentpunkte mehr als am 1. März: von Platz 2 auf Platz 1 von zwei Websites, vorbei an rival.com (25,3 %).',
      '10 Keywords sind gestiegen. Größter Gewinn: „keyword 1“ 9 → 2.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
  [
    'rival fell behind',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(1, 9) }) }),
    [
      'Visibility steady at 38.6% since 1 March: from second to first of two sites, past rival.com (9.8%).',
      'rival.com fell from 100.0% to 9.8% visibility.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'rival rose, still behind',
    () => jobOf({ keywords: some(10, { own: 1, rival: turn(9, 4) }) }),
    [
      'Visibility steady at 100.0% since 1 March, first of two sites.',
      'rival.com rose from 9.8% to 28.1% visibility.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'rival rose, further ahead',
    () => jobOf({ keywords: some(10, { own: 8, rival: turn(4, 1) }) }),
    [
      'Visibility steady at 11.2% since 1 March, second of two sites behind rival.com (100.0%).',
      'rival.com rose from 28.1% to 100.0% visibility.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
    [
      'Sichtbarkeit stabil bei 11,2 % seit dem 1. März, Platz 2 von zwei Websites hinter rival.com (100,0 %).',
      'rival.com ist von 28,1 % auf 100,0 % Sichtbarkeit gestiegen.',
      'Alle 10 Keywords in den Top 10, keines in den Top 3.',
    ],
  ],
  [
    'rival fell, still ahead',
    () => jobOf({ keywords: some(10, { own: 8, rival: turn(1, 4) }) }),
    [
      'Visibility steady at 11.2% since 1 March, second of two sites behind rival.com (28.1%).',
      'rival.com fell from 100.0% to 28.1% visibility.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'level',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(9, 4) }) }),
    [
      'Visibility steady at 28.1% since 1 March, first of two sites.',
      'rival.com rose from 9.8% to 28.1% visibility.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'two rivals',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(6, 5), other: turn(9, 2) }) }),
    [
      'Visibility steady at 28.1% since 1 March: from first to second of three sites, passed by other.com (55.1%).',
      'other.com rose from 9.8% to 55.1% visibility.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
    [
      'Sichtbarkeit stabil bei 28,1 % seit dem 1. März: von Platz 1 auf Platz 2 von drei Websites, überholt von other.com (55,1 %).',
      'other.com ist von 9,8 % auf 55,1 % Sichtbarkeit gestiegen.',
      'Alle 10 Keywords in den Top 10, keines in den Top 3.',
    ],
  ],
  [
    'rival for other keywords',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 4, rival: turn(9, 2) })] }),
    [
      'Visibility steady at 28.1% since 1 March.',
      'rival.com rose from 9.8% to 55.1% visibility.',
      'All 20 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'weak tag',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: 4, tags: ['brand'] }),
          ...some(8, { own: turn(3, 9), tags: ['price'] }),
        ],
      }),
    [
      'Visibility 20.0%, 12.8 points less than on 1 March.',
      '8 keywords fell. Biggest loss: “keyword 11” 3 → 9.',
      'The tag price (8 keywords) moved more than the whole: 28.8 points less visibility.',
    ],
  ],
  [
    'two tags',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: turn(6, 2), tags: ['brand'] }),
          ...some(8, { own: turn(3, 9), tags: ['price'] }),
        ],
      }),
    [
      'Visibility 35.0%, 7.9 points more than on 1 March.',
      '10 keywords rose, 8 fell. Biggest win: “keyword 1” 6 → 2; biggest loss: “keyword 11” 3 → 9.',
      'The tag brand (10 keywords) moved more than the whole: 37.2 points more visibility.',
    ],
    [
      'Sichtbarkeit 35,0 %, 7,9 Prozentpunkte mehr als am 1. März.',
      '10 Keywords sind gestiegen, 8 gefallen. Größter Gewinn: „keyword 1“ 6 → 2; größter Verlust: „keyword 11“ 3 → 9.',
      'Stärker als das Ganze hat sich der Tag brand (10 Keywords) bewegt: 37,2 Prozentpunkte mehr Sichtbarkeit.',
    ],
  ],
  [
    'changes that do not lead to the figures, for many keywords are new',
    () =>
      jobOf({
        keywords: [
          ...some(6, { own: turn(out, 1), rival: turn(out, 2), tags: ['brand'] }),
          ...some(6, { own: turn(null, out), rival: turn(null, out), tags: ['brand'] }),
          ...some(12, { own: 2, rival: 5 }),
        ],
      }),
    [
      'Visibility 52.5%, 33.3 points more than on 1 March, first of two sites.',
      '6 keywords rose. Biggest win: “keyword 1” not found → 1.',
      'rival.com rose from 16.8% to 35.2% visibility.',
    ],
  ],
  [
    'tag on all',
    () => jobOf({ keywords: some(10, { own: turn(6, 2), tags: ['brand'] }) }),
    [
      'Visibility 55.1%, 37.2 points more than on 1 March.',
      '10 keywords rose. Biggest win: “keyword 1” 6 → 2.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'tag of few',
    () =>
      jobOf({
        keywords: [
          ...some(10, { own: 4, tags: ['brand'] }),
          ...some(3, { own: turn(3, 9), tags: ['price'] }),
        ],
      }),
    [
      'Visibility 23.9%, 6.6 points less than on 1 March.',
      'Biggest loss: “keyword 11” 3 → 9.',
      'All 13 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit 23,9 %, 6,6 Prozentpunkte weniger als am 1. März.',
      'Größter Verlust: „keyword 11“ 3 → 9.',
      'Alle 13 Keywords in den Top 10, keines in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'volumes, rose',
    () =>
      jobOf({
        keywords: [...some(10, { own: 4, volume: 1000 }), ...some(3, { own: turn(9, 3), volume: 5000 })],
      }),
    [
      'About 2,450 clicks a month, 101% more than on 1 March.',
      'Biggest win: “keyword 11” 9 → 3, about 410 clicks.',
      'All 13 keywords are in the top 10, 3 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'volumes, steady',
    () => jobOf({ keywords: some(10, { own: 4, volume: 1000 }) }),
    [
      'Steady at about 800 clicks a month since 1 March.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    '7 not checked',
    () =>
      jobOf({
        keywords: [
          ...some(73, { own: 4, rival: 6 }),
          ...some(7, { own: turn(4, unknown, 1), rival: turn(6, unknown, 1) }),
        ],
      }),
    [
      'Visibility steady at 28.1% since 1 March, first of two sites.',
      'rival.com follows with a visibility of 17.9%.',
      'All 73 keywords are in the top 10, none in the top 3.',
    ],
    [
      'Sichtbarkeit stabil bei 28,1 % seit dem 1. März, Platz 1 von zwei Websites.',
      'rival.com folgt mit einer Sichtbarkeit von 17,9 %.',
      'Alle 73 Keywords in den Top 10, keines in den Top 3.',
    ],
  ],
  [
    'a quarter not checked',
    () => jobOf({ keywords: [...some(60, { own: 4 }), ...some(20, { own: turn(4, unknown, 1) })] }),
    [
      '20 of 80 keywords could not be checked: all figures are of the others.',
      'Visibility steady at 28.1% since 1 March.',
      'All 60 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'nothing ranks, half not checked',
    () => jobOf({ keywords: [...some(40, { own: out }), ...some(40, { own: unknown })] }),
    [
      '40 of 80 keywords could not be checked: all figures are of the others.',
      'None of the 40 keywords is in the top 30. None was on 1 March either.',
    ],
  ],
  [
    'last day unknown',
    () => jobOf({ keywords: some(80, { own: turn(4, unknown, 1) }) }),
    [
      'None of the 80 keywords could be checked on 29 March 2026. On 28 March 2026, the last day with enough of them: visibility 28.1%.',
    ],
    [
      'Am 29. März 2026 konnte keines der 80 Keywords geprüft werden. Am 28. März 2026, dem letzten Tag mit genügend Prüfungen: Sichtbarkeit 28,1 %.',
    ],
  ],
  [
    'last days partial',
    () => jobOf({ keywords: [...some(50, { own: turn(4, unknown, 3) }), ...some(30, { own: 4 })] }),
    [
      'Only 30 of 80 keywords could be checked on 29 March 2026, too few for a trend. On 26 March 2026, the last day with enough of them: visibility 28.1%.',
    ],
  ],
  [
    'always unknown',
    () => jobOf({ keywords: some(80, { own: unknown }) }),
    [
      'None of the 80 keywords could be checked on 29 March 2026. There is no earlier day with enough of them either.',
    ],
  ],
  [
    'nothing ranks',
    () => jobOf({ keywords: some(80, { own: out, rival: 3 }) }),
    [
      'None of the 80 keywords is in the top 30. None was on 1 March either.',
      'rival.com leads with 80 keywords in the top 10.',
    ],
    [
      'Keines der 80 Keywords rankt in den Top 30. Am 1. März war es auch keines.',
      'Vorn liegt rival.com mit 80 Keywords in den Top 10.',
    ],
  ],
  [
    'nothing ranks any more',
    () =>
      jobOf({
        keywords: [...some(70, { own: out, rival: 3 }), ...some(10, { own: turn(12, out), rival: 3 })],
      }),
    [
      'None of the 80 keywords is in the top 30. On 1 March, 10 were.',
      'rival.com leads with 80 keywords in the top 10.',
    ],
  ],
  [
    'nothing ranks, no rival',
    () => jobOf({ keywords: some(80, { own: out }) }),
    ['None of the 80 keywords is in the top 30. None was on 1 March either.'],
  ],
  [
    'nothing ranks, first day',
    () => jobOf({ keywords: some(80, { own: out }), length: 1 }),
    ['None of the 80 keywords is in the top 30.'],
    ['Keines der 80 Keywords rankt in den Top 30.'],
  ],
  [
    'depths differ',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: -51 })] }),
    ['None of the 16 keywords was found in the checked results. None was on 1 March either.'],
  ],
  [
    'low ranks, better',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: turn(25, 14) })] }),
    [
      'None of the 16 keywords is in the top 10, 8 rank below it, as many as on 1 March.',
      '8 keywords rose. Biggest win: “keyword 9” 25 → 14.',
      'No competitor is tracked.',
    ],
  ],
  [
    'low ranks, worse',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: turn(14, 25) })] }),
    [
      'None of the 16 keywords is in the top 10, 8 rank below it, as many as on 1 March.',
      '8 keywords fell. Biggest loss: “keyword 9” 14 → 25.',
      'No competitor is tracked.',
    ],
    [
      'Keines der 16 Keywords in den Top 10, 8 dahinter, so viele wie am 1. März.',
      '8 Keywords sind gefallen. Größter Verlust: „keyword 9“ 14 → 25.',
      'Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'first day',
    () => jobOf({ keywords: tenSteady, length: 1 }),
    [
      'Visibility 55.1%, first of two sites. This is the first day, so there is nothing to compare with yet.',
      'rival.com follows with a visibility of 25.3%.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
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
    [
      'About 147 clicks a month, second of two sites behind rival.com (421). This is the first day, so there is nothing to compare with yet.',
      'All 18 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'two days',
    () => jobOf({ keywords: some(10, { own: [4, 2], rival: 5 }), length: 2 }),
    [
      'Visibility 55.1%, 27.0 points more than the day before, first of two sites.',
      '10 keywords rose. Biggest win: “keyword 1” 4 → 2.',
      'rival.com follows with a visibility of 25.3%.',
    ],
    [
      'Sichtbarkeit 55,1 %, 27,0 Prozentpunkte mehr als am Vortag, Platz 1 von zwei Websites.',
      '10 Keywords sind gestiegen. Größter Gewinn: „keyword 1“ 4 → 2.',
      'rival.com folgt mit einer Sichtbarkeit von 25,3 %.',
    ],
  ],
  [
    'two days, tiny change',
    () => jobOf({ keywords: [...some(99, { own: 4, rival: 5 }), { own: [4, 3], rival: 5 }], length: 2 }),
    [
      'Visibility steady at 28.2% since the day before, first of two sites.',
      'rival.com follows with a visibility of 25.3%.',
      'All 100 keywords are in the top 10, 1 in the top 3.',
    ],
  ],
  [
    'history begins later',
    () => jobOf({ keywords: some(10, { own: 4 }), length: 9, compare: { day: '2026-02-09', tolerance: 7 } }),
    [
      'Visibility 28.1%. There is nothing to compare with: the first figures are of 1 March 2026.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'not checked then',
    () => jobOf({ keywords: some(10, { own: [...Array(20).fill(0), ...Array(9).fill(4)] }) }),
    [
      'Visibility 28.1%. There is nothing to compare with: the first figures are of 21 March 2026.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit 28,1 %. Es gibt keinen Vergleich: Die ersten Zahlen sind vom 21. März 2026.',
      'Alle 10 Keywords in den Top 10, keines in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'compared day missing',
    () =>
      jobOf({
        keywords: some(10, { own: [null, null, ...Array(27).fill(4)] }),
        compare: { day: march(1), tolerance: 3 },
      }),
    [
      'Visibility steady at 28.1% since 3 March.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'one keyword',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(7, 4), rival: 2 }] }),
    ['“oak desk” is at rank 4, up 3 places since 1 March.', 'rival.com is at rank 2.'],
  ],
  [
    'one keyword in two places',
    () =>
      jobOf({
        keywords: [
          { query: 'oak desk', params: { gl: 'us' }, own: turn(7, 4) },
          { query: 'oak desk', params: { gl: 'gb', num: 20 }, own: 9 },
        ],
      }),
    [
      'Better: visibility 18.9%, 7.0 points more than on 1 March.',
      '“oak desk” (US) is at rank 4, up 3 places since 1 March.',
      '“oak desk” (GB) is at rank 9, unchanged since 1 March.',
    ],
    [
      'Besser: Sichtbarkeit 18,9 %, 7,0 Prozentpunkte mehr als am 1. März.',
      '„oak desk“ (US) rankt auf Platz 4, 3 Plätze besser als am 1. März.',
      '„oak desk“ (GB) rankt auf Platz 9, unverändert seit dem 1. März.',
    ],
  ],
  [
    'one keyword, left',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(7, out) }] }),
    ['“oak desk” is not in the top 30; on 1 March it was at rank 7.'],
  ],
  [
    'one keyword, entered',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(out, 12) }] }),
    ['“oak desk” is at rank 12; on 1 March it was not found.'],
  ],
  [
    'one keyword, unknown',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(4, unknown) }] }),
    ['“oak desk” could not be checked.'],
    ['„oak desk“ konnte nicht geprüft werden.'],
  ],
  [
    'one keyword, one day',
    () => jobOf({ keywords: [{ query: 'oak desk', own: 4 }], length: 1 }),
    ['“oak desk” is at rank 4.', 'This is the first day, so there is nothing to compare with yet.'],
  ],
  [
    'one keyword, absent',
    () => jobOf({ keywords: [{ query: 'oak desk', own: out }] }),
    ['“oak desk” is not in the top 30, unchanged since 1 March.'],
  ],
  [
    'one keyword same',
    () => jobOf({ keywords: [{ query: 'oak desk', own: 1 }] }),
    ['“oak desk” is at rank 1, unchanged since 1 March.'],
    ['„oak desk“ rankt auf Platz 1, unverändert seit dem 1. März.'],
  ],
  [
    'three keywords',
    () => jobOf({ keywords: [{ own: turn(7, 4) }, { own: turn(4, 5) }, { own: out }] }),
    [
      'Better: visibility 17.8%, 3.7 points more than on 1 March.',
      '“keyword 1” is at rank 4, up 3 places since 1 March.',
      '“keyword 2” is at rank 5, down 1 place since 1 March; “keyword 3” is not in the top 30, unchanged since 1 March.',
    ],
  ],
  [
    'few keywords, first day: the best rank first',
    () => jobOf({ keywords: [{ own: 16 }, { own: unknown }, { own: out }, { own: 4 }], length: 1 }),
    [
      '1 of 4 keywords could not be checked: all figures are of the others.',
      '“keyword 4” is at rank 4; “keyword 1” is at rank 16; “keyword 3” is not in the top 30; “keyword 2” could not be checked.',
      'This is the first day, so there is nothing to compare with yet.',
    ],
  ],
  [
    'few keywords with clicks: worse or better first, then what moved most, and none is left out',
    () =>
      jobOf({
        keywords: [
          { query: 'office chair mat', own: 1, rival: 9, volume: 1200 },
          { query: 'best oak desk', own: turn(3, 6), rival: turn(8, 1), volume: 5000 },
          { query: 'desk lamp', own: turn(5, 4), rival: 9, volume: 9000 },
          { query: 'filing cabinet', own: out, rival: 9, volume: 400 },
        ],
      }),
    [
      'Worse: about 1,320 clicks a month, 14% fewer than on 1 March, second of two sites behind rival.com (1,720).',
      '“best oak desk” is at rank 6, down 3 places since 1 March.',
      '“desk lamp” is at rank 4, up 1 place since 1 March; “office chair mat” is at rank 1, unchanged since 1 March; “filing cabinet” is not in the top 30, unchanged since 1 March.',
    ],
    [
      'Schlechter: etwa 1.320 Klicks im Monat, 14 % weniger als am 1. März, Platz 2 von zwei Websites hinter rival.com (1.720).',
      '„best oak desk“ rankt auf Platz 6, 3 Plätze schlechter als am 1. März.',
      '„desk lamp“ rankt auf Platz 4, einen Platz besser als am 1. März; „office chair mat“ rankt auf Platz 1, unverändert seit dem 1. März; „filing cabinet“ rankt nicht in den Top 30, unverändert seit dem 1. März.',
    ],
  ],
  [
    'few keywords, low ranks',
    () => jobOf({ keywords: [{ own: 14 }, { own: 20 }] }),
    [
      'None of the 2 keywords is in the top 10, 2 rank below it, much as on 1 March.',
      '“keyword 1” is at rank 14, unchanged since 1 March.',
      '“keyword 2” is at rank 20, unchanged since 1 March.',
    ],
    [
      'Keines der 2 Keywords in den Top 10, 2 dahinter, kaum anders als am 1. März.',
      '„keyword 1“ rankt auf Platz 14, unverändert seit dem 1. März.',
      '„keyword 2“ rankt auf Platz 20, unverändert seit dem 1. März.',
    ],
  ],
  [
    'few keywords of a competitor',
    () => jobOf({ keywords: some(2, { own: 4, rival: 1 }), target: 'rival.com' }),
    [
      'rival.com: visibility 100.0%, much as on 1 March, first of two sites.',
      '“keyword 1” is at rank 1, unchanged since 1 March.',
      '“keyword 2” is at rank 1, unchanged since 1 March.',
    ],
  ],
  [
    'few keywords, nothing ranks',
    () => jobOf({ keywords: [{ own: out }, { own: turn(7, out) }, { own: unknown }] }),
    [
      '1 of 3 keywords could not be checked: all figures are of the others.',
      'None of the 2 keywords is in the top 30. On 1 March, 1 was.',
    ],
  ],
  [
    'few keywords, nothing ranks on the first day',
    () => jobOf({ keywords: some(3, { own: out }), length: 1 }),
    [
      'None of the 3 keywords is in the top 30.',
      'This is the first day, so there is nothing to compare with yet.',
    ],
    [
      'Keines der 3 Keywords rankt in den Top 30.',
      'Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
    ],
  ],
  [
    'few keywords, none checked',
    () => jobOf({ keywords: some(3, { own: turn(4, unknown, 1) }) }),
    [
      'None of the 3 keywords could be checked on 29 March 2026. On 28 March 2026, the last day with enough of them: visibility 28.1%.',
    ],
  ],
  [
    'few keywords, one checked',
    () => jobOf({ keywords: [{ own: unknown }, { own: out }, { own: unknown }], length: 1 }),
    [
      '“keyword 2” is not in the top 30.',
      '“keyword 1” could not be checked; “keyword 3” could not be checked.',
      'This is the first day, so there is nothing to compare with yet.',
    ],
  ],
  [
    'only competitors',
    () => jobOf({ keywords: some(10, { rival: turn(7, 2), other: 3 }), target: 'rival.com' }),
    [
      'rival.com: visibility 55.1%, 41.1 points more than on 1 March: from second to first of two sites, past other.com (38.6%).',
      '10 keywords rose. Biggest win: “keyword 1” 7 → 2.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'rival.com: Sichtbarkeit 55,1 %, 41,1 Prozentpunkte mehr als am 1. März: von Platz 2 auf Platz 1 von zwei Websites, vorbei an other.com (38,6 %).',
      '10 Keywords sind gestiegen. Größter Gewinn: „keyword 1“ 7 → 2.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
  [
    'of a competitor',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(7, 2), other: 3 }), target: 'rival.com' }),
    [
      'rival.com: visibility 55.1%, 41.1 points more than on 1 March: from third to first of three sites, past other.com (38.6%) and acme.com (28.1%).',
      '10 keywords rose. Biggest win: “keyword 1” 7 → 2.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'AI answers',
    () =>
      jobOf({
        keywords: [
          ...some(12, { kind: 'reference', operation: 'alpha.ai', own: 2, rival: turn(out, 3) }),
          ...some(28, { kind: 'reference', operation: 'alpha.ai', own: out, rival: 2 }),
        ],
      }),
    [
      '12 of 40 AI answers cite you, as many as on 1 March, second of two sites behind rival.com (40).',
      'rival.com went from 28 to 40 AI answers that cite it.',
    ],
    [
      '12 von 40 KI-Antworten zitieren Sie, so viele wie am 1. März, Platz 2 von zwei Websites hinter rival.com (40).',
      'rival.com wird statt in 28 jetzt in 40 KI-Antworten zitiert.',
    ],
  ],
  [
    'AI answers, more',
    () =>
      jobOf({
        keywords: [
          ...some(12, { kind: 'reference', operation: 'alpha.ai', own: turn(out, 2) }),
          ...some(28, { kind: 'reference', operation: 'alpha.ai', own: out }),
        ],
      }),
    ['12 of 40 AI answers cite you, 12 more than on 1 March.', 'Biggest win: “keyword 1” not cited → cited.'],
    [
      '12 von 40 KI-Antworten zitieren Sie, 12 mehr als am 1. März.',
      'Größter Gewinn: „keyword 1“ nicht zitiert → zitiert.',
    ],
  ],
  [
    'AI answers, a rival cited in one',
    () =>
      jobOf({
        keywords: [
          ...some(20, { kind: 'reference', operation: 'alpha.ai', own: 2, rival: out }),
          ...some(1, { kind: 'reference', operation: 'alpha.ai', own: 2, rival: 1 }),
        ],
      }),
    [
      '21 of 21 AI answers cite you, as many as on 1 March, first of two sites.',
      'rival.com follows, cited in 1 AI answer.',
    ],
    [
      '21 von 21 KI-Antworten zitieren Sie, so viele wie am 1. März, Platz 1 von zwei Websites.',
      'rival.com folgt, zitiert in 1 KI-Antwort.',
    ],
  ],
  [
    'AI answers, none',
    () => jobOf({ keywords: some(28, { kind: 'reference', operation: 'alpha.ai', own: -9 }) }),
    ['None of the 28 AI answers cites you. None did on 1 March either.'],
    ['Keine der 28 KI-Antworten zitiert Sie. Am 1. März war es auch keine.'],
  ],
  [
    'two engines',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 1, operation: 'beta.search' })] }),
    [
      'Visibility steady at 28.1% since 1 March.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'added',
    () => jobOf({ keywords: [...some(10, { own: turn(6, 4) }), ...some(4, { own: turn(null, 1) })] }),
    [
      'Visibility 48.6%, 10.2 points more than on 1 March.',
      '10 keywords rose. Biggest win: “keyword 1” 6 → 4.',
      'All 14 keywords are in the top 10, 4 in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit 48,6 %, 10,2 Prozentpunkte mehr als am 1. März.',
      '10 Keywords sind gestiegen. Größter Gewinn: „keyword 1“ 6 → 4.',
      'Alle 14 Keywords in den Top 10, 4 in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'mostly added',
    () => jobOf({ keywords: [...some(3, { own: turn(6, 4) }), ...some(40, { own: turn(null, 1) })] }),
    [
      'Visibility 95.0%. Only 3 of 43 keywords can be compared with 1 March, too few for a trend.',
      'All 43 keywords are in the top 10, 40 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'partial days',
    () => jobOf({ keywords: [...some(4, { own: 4 }), ...some(8, { own: waves(4, 4, 4, 0, 4) })] }),
    [
      'Only 4 of 12 keywords could be checked on 29 March 2026, too few for a trend. On 28 March 2026, the last day with enough of them: visibility 28.1%.',
    ],
  ],
  [
    'in and out',
    () =>
      jobOf({
        keywords: [
          ...some(6, { own: 4 }),
          ...some(3, { own: turn(9, 12) }),
          ...some(3, { own: turn(12, 9) }),
        ],
      }),
    [
      'Visibility steady at 16.5% since 1 March.',
      '3 keywords rose, 3 fell. Biggest win: “keyword 10” 12 → 9; biggest loss: “keyword 7” 9 → 12.',
      '9 of 12 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit stabil bei 16,5 % seit dem 1. März.',
      '3 Keywords sind gestiegen, 3 gefallen. Größter Gewinn: „keyword 10“ 12 → 9; größter Verlust: „keyword 7“ 9 → 12.',
      '9 von 12 Keywords in den Top 10, keines in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'one came in',
    () => jobOf({ keywords: [...some(6, { own: 4 }), { query: 'oak desk', own: turn(12, 3) }] }),
    [
      'Visibility 29.6%, 5.5 points more than on 1 March.',
      'Biggest win: “oak desk” 12 → 3.',
      'All 7 keywords are in the top 10, 1 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'a year',
    () => jobOf({ keywords: some(10, { own: turn(9, 4, 100, 366) }), length: 366 }),
    [
      'Visibility 28.1%, 18.2 points more than on 1 March 2026.',
      '10 keywords rose. Biggest win: “keyword 1” 9 → 4.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'clicks fell, from first to second',
    () => jobOf({ keywords: some(10, { own: turn(2, 5), rival: 3, volume: 1000 }) }),
    [
      'About 720 clicks a month, 54% fewer than on 1 March: from first to second of two sites, passed by rival.com (1,100).',
      '10 keywords lost about 850 clicks. Biggest loss: “keyword 1” 2 → 5, about 85 clicks.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
    [
      'Etwa 720 Klicks im Monat, 54 % weniger als am 1. März: von Platz 1 auf Platz 2 von zwei Websites, überholt von rival.com (1.100).',
      '10 Keywords haben etwa 850 Klicks verloren. Größter Verlust: „keyword 1“ 2 → 5, etwa 85 Klicks.',
      'Alle 10 Keywords in den Top 10, keines in den Top 3.',
    ],
  ],
  [
    'clicks rose, from third to first of three',
    () => jobOf({ keywords: some(10, { own: turn(9, 1), rival: 3, other: 5, volume: 1000 }) }),
    [
      'About 2,850 clicks a month, 2,570 more than on 1 March: from third to first of three sites, past rival.com (1,100) and other.com (720).',
      '10 keywords won about 2,570 clicks. Biggest win: “keyword 1” 9 → 1, about 257 clicks.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'clicks steady, and another passed',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(7, 1), volume: 1000 }) }),
    [
      'Steady at about 1,100 clicks a month since 1 March: from first to second of two sites, passed by rival.com (2,850).',
      'rival.com rose from about 400 to 2,850 clicks a month.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
  ],
  [
    'clicks lead where four of five keywords have a volume',
    () => jobOf({ keywords: [...some(8, { own: turn(9, 2), volume: 500 }), ...some(2, { own: 3 })] }),
    [
      'About 628 clicks a month, 516 more than on 1 March.',
      '8 keywords won about 516 clicks. Biggest win: “keyword 1” 9 → 2, about 65 clicks.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
    [
      'Etwa 628 Klicks im Monat, 516 mehr als am 1. März.',
      '8 Keywords haben etwa 516 Klicks gewonnen. Größter Gewinn: „keyword 1“ 9 → 2, etwa 65 Klicks.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'visibility leads where fewer have one',
    () => jobOf({ keywords: [...some(7, { own: turn(9, 2), volume: 500 }), ...some(3, { own: 3 })] }),
    [
      'Visibility 50.1%, 31.7 points more than on 1 March.',
      '7 keywords rose. Biggest win: “keyword 1” 9 → 2, about 65 clicks.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'more keywords fell than rose, but the bigger ones rose',
    () =>
      jobOf({
        keywords: [
          ...some(3, { own: turn(6, 2), volume: 9000, rival: 4 }),
          ...some(7, { own: turn(3, 5), volume: 100, rival: 4 }),
        ],
      }),
    [
      'About 4,290 clicks a month, 195% more than on 1 March: from second to first of two sites, past rival.com (2,220).',
      'More keywords fell than rose (7 and 3), but the bigger ones rose. Biggest win: “keyword 1” 6 → 2, about 954 clicks.',
      'All 10 keywords are in the top 10, 3 in the top 3.',
    ],
    [
      'Etwa 4.290 Klicks im Monat, 195 % mehr als am 1. März: von Platz 2 auf Platz 1 von zwei Websites, vorbei an rival.com (2.220).',
      'Mehr Keywords sind gefallen als gestiegen (7 und 3), aber die größeren sind gestiegen. Größter Gewinn: „keyword 1“ 6 → 2, etwa 954 Klicks.',
      'Alle 10 Keywords in den Top 10, 3 in den Top 3.',
    ],
  ],
  [
    'more keywords rose than fell, but the bigger ones fell',
    () =>
      jobOf({
        keywords: [
          ...some(3, { own: turn(2, 6), volume: 9000, rival: 4 }),
          ...some(7, { own: turn(5, 3), volume: 100, rival: 4 }),
        ],
      }),
    [
      'About 1,450 clicks a month, 66% fewer than on 1 March: from first to second of two sites, passed by rival.com (2,220).',
      'More keywords rose than fell (7 and 3), but the bigger ones fell. Biggest loss: “keyword 1” 2 → 6, about 954 clicks.',
      'All 10 keywords are in the top 10, 7 in the top 3.',
    ],
    [
      'Etwa 1.450 Klicks im Monat, 66 % weniger als am 1. März: von Platz 1 auf Platz 2 von zwei Websites, überholt von rival.com (2.220).',
      'Mehr Keywords sind gestiegen als gefallen (7 und 3), aber die größeren sind gefallen. Größter Verlust: „keyword 1“ 2 → 6, etwa 954 Klicks.',
      'Alle 10 Keywords in den Top 10, 7 in den Top 3.',
    ],
  ],
  [
    'without volumes, those further up rose',
    () => jobOf({ keywords: [...some(3, { own: turn(6, 1) }), ...some(7, { own: turn(8, 10) })] }),
    [
      'Visibility 36.1%, 22.9 points more than on 1 March.',
      'More keywords fell than rose (7 and 3), but those further up rose. Biggest win: “keyword 1” 6 → 1.',
      'All 10 keywords are in the top 10, 3 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'the biggest win and the biggest loss are keywords with ranks',
    () =>
      jobOf({
        keywords: [
          ...some(8, { own: 4, volume: 1000 }),
          { query: 'sit stand desk', own: turn(out, 1), volume: 5000 },
          { query: 'oak desk', own: turn(2, 11), volume: 3000 },
        ],
      }),
    [
      'About 2,070 clicks a month, 86% more than on 1 March.',
      'Biggest win: “sit stand desk” not found → 1, about 1,420 clicks; biggest loss: “oak desk” 2 → 11, about 471 clicks.',
      '9 of 10 keywords are in the top 10, 1 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'a win of less than a hundredth of the clicks is not told',
    () => jobOf({ keywords: [...some(20, { own: 1, volume: 9000 }), { own: turn(9, 8), volume: 100 }] }),
    [
      'Steady at about 51,300 clicks a month since 1 March.',
      'All 21 keywords are in the top 10, 20 in the top 3. No competitor is tracked.',
    ],
    [
      'Stabil bei etwa 51.300 Klicks im Monat seit dem 1. März.',
      'Alle 21 Keywords in den Top 10, 20 in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'markets of a keyword are named by country',
    () =>
      jobOf({
        keywords: [
          ...some(5, { own: 4, volume: 100 }),
          { query: 'oak desk', params: { gl: 'us', hl: 'en' }, own: turn(9, 1), volume: 900 },
          { query: 'oak desk', params: { gl: 'gb', hl: 'en' }, own: turn(1, 9), volume: 900 },
        ],
      }),
    [
      'Steady at about 322 clicks a month since 1 March.',
      'Biggest win: “oak desk” (US) 9 → 1, about 231 clicks; biggest loss: “oak desk” (GB) 1 → 9, about 231 clicks.',
      'All 7 keywords are in the top 10, 1 in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'markets that moved the same way are one win or loss, with the clicks of all of them',
    () =>
      jobOf({
        keywords: [
          ...some(5, { own: 4, volume: 100 }),
          { query: 'oak desk', params: { gl: 'us' }, own: turn(1, 4), volume: 900 },
          { query: 'oak desk', params: { gl: 'gb' }, own: turn(2, 3), volume: 900 },
          { query: 'desk lamp', own: turn(1, 3), volume: 1000 },
          ...['us', 'gb', 'ca', 'au', 'ie'].map((gl) => ({
            query: 'sit desk',
            params: { gl },
            own: turn(9, 6),
            volume: 1000,
          })),
        ],
      }),
    [
      'About 576 clicks a month, 33% fewer than on 1 March.',
      'More keywords rose than fell (5 and 3), but the bigger ones fell. Biggest loss: “oak desk” 1 → 4 (US) and 2 → 3 (GB), about 227 clicks; biggest win: “sit desk” 9 → 6 (US), 9 → 6 (GB), 9 → 6 (CA) and 2 more, about 115 clicks.',
      'All 13 keywords are in the top 10, 2 in the top 3. No competitor is tracked.',
    ],
    [
      'Etwa 576 Klicks im Monat, 33 % weniger als am 1. März.',
      'Mehr Keywords sind gestiegen als gefallen (5 und 3), aber die größeren sind gefallen. Größter Verlust: „oak desk“ 1 → 4 (US) und 2 → 3 (GB), etwa 227 Klicks; größter Gewinn: „sit desk“ 9 → 6 (US), 9 → 6 (GB), 9 → 6 (CA) und 2 weitere, etwa 115 Klicks.',
      'Alle 13 Keywords in den Top 10, 2 in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'the same ends, but a fall and a recovery between them',
    () => jobOf({ keywords: some(10, { own: valley(2, 6), volume: 1000 }) }),
    [
      'About 1,570 clicks a month, much as on 1 March, after a fall to 510 by 10 March.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
    [
      'Etwa 1.570 Klicks im Monat, kaum anders als am 1. März, nach einem Rückgang auf 510 bis zum 10. März.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'the same ends, but a rise and a fall between them',
    () => jobOf({ keywords: some(10, { own: valley(6, 2) }) }),
    [
      'Visibility 17.9%, much as on 1 March, after a rise to 55.1% by 10 March.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
    [
      'Sichtbarkeit 17,9 %, kaum anders als am 1. März, nach einem Anstieg auf 55,1 % bis zum 10. März.',
      'Alle 10 Keywords in den Top 10, keines in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'fell, and recovered in part',
    () =>
      jobOf({
        keywords: some(10, {
          own: [...Array(9).fill(1), ...Array(10).fill(9), ...Array(10).fill(4)],
          volume: 1000,
        }),
      }),
    [
      'About 800 clicks a month, 72% fewer than on 1 March, after a fall to 280 by 10 March.',
      '10 keywords lost about 2,050 clicks. Biggest loss: “keyword 1” 1 → 4, about 205 clicks.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'one bad last day after steady weeks',
    () => jobOf({ keywords: some(10, { own: turn(2, 6, 1), volume: 1000 }) }),
    [
      'About 510 clicks a month, 68% fewer than on 1 March, all of it on the last day.',
      '10 keywords lost about 1,060 clicks. Biggest loss: “keyword 1” 2 → 6, about 106 clicks.',
      'All 10 keywords are in the top 10, none in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'an odd first day before steady weeks',
    () => jobOf({ keywords: some(10, { own: turn(6, 2, 28), volume: 1000 }) }),
    [
      'About 1,570 clicks a month, 1,060 more than on 1 March, between 510 and 1,570 since.',
      '10 keywords won about 1,060 clicks. Biggest win: “keyword 1” 6 → 2, about 106 clicks.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
    [
      'Etwa 1.570 Klicks im Monat, 1.060 mehr als am 1. März, seither zwischen 510 und 1.570.',
      '10 Keywords haben etwa 1.060 Klicks gewonnen. Größter Gewinn: „keyword 1“ 6 → 2, etwa 106 Klicks.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'one bad day between does not count',
    () =>
      jobOf({ keywords: some(10, { own: [...Array(14).fill(2), 9, ...Array(14).fill(2)], volume: 1000 }) }),
    [
      'About 1,570 clicks a month, much as on 1 March, between 280 and 1,570 since.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'a month',
    () =>
      jobOf({
        keywords: some(10, { own: turn(9, 3, 10, 31), volume: 1000, rival: 5 }),
        length: 31,
        from: '2026-10-31',
      }),
    [
      'About 1,100 clicks a month, 820 more than at the end of October: from second to first of two sites, past rival.com (720).',
      '10 keywords won about 820 clicks. Biggest win: “keyword 1” 9 → 3, about 82 clicks.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'Etwa 1.100 Klicks im Monat, 820 mehr als Ende Oktober: von Platz 2 auf Platz 1 von zwei Websites, vorbei an rival.com (720).',
      '10 Keywords haben etwa 820 Klicks gewonnen. Größter Gewinn: „keyword 1“ 9 → 3, etwa 82 Klicks.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
  [
    'a steady month',
    () => jobOf({ keywords: some(10, { own: 3, volume: 1000, rival: 5 }), length: 31, from: '2026-10-31' }),
    [
      'Steady at about 1,100 clicks a month in November, first of two sites.',
      'rival.com follows with about 720 clicks a month.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'Stabil bei etwa 1.100 Klicks im Monat im November, Platz 1 von zwei Websites.',
      'rival.com folgt mit etwa 720 Klicks im Monat.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
  [
    'since a day of the year before',
    () => jobOf({ keywords: some(10, { own: turn(9, 3), volume: 1000 }), from: '2025-12-20' }),
    [
      'About 1,100 clicks a month, 820 more than on 20 December 2025.',
      '10 keywords won about 820 clicks. Biggest win: “keyword 1” 9 → 3, about 82 clicks.',
      'All 10 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
  ],
  [
    'a site that nobody tracks rose',
    () => withPages(jobOf({ keywords: some(10, { own: 3, rival: 5, volume: 1000 }) })),
    [
      'Steady at about 1,100 clicks a month since 1 March, first of two sites.',
      'harbor.example, not tracked, rose from 10.2% to 40.5% of the clicks on the first ten results; yours there is 15.6%.',
      'rival.com follows with about 720 clicks a month.',
    ],
  ],
  [
    'a tracked site rose',
    () => withPages(jobOf({ keywords: some(10, { own: 3, rival: turn(9, 1), volume: 1000 }) }), [1]),
    [
      'Steady at about 1,100 clicks a month since 1 March: from first to second of two sites, passed by rival.com (2,850).',
      'rival.com rose from 10.2% to 40.5% of the clicks on the first ten results; yours there is 15.6%.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'Stabil bei etwa 1.100 Klicks im Monat seit dem 1. März: von Platz 1 auf Platz 2 von zwei Websites, überholt von rival.com (2.850).',
      'rival.com ist von 10,2 % auf 40,5 % der Klicks auf die ersten zehn Ergebnisse gestiegen; Ihr Anteil dort ist 15,6 %.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
  [
    'news: no clicks, the top 10',
    () =>
      jobOf({
        keywords: some(10, {
          kind: 'news',
          operation: 'alpha.news',
          own: turn(14, 1),
          rival: 3,
          volume: 9000,
        }),
      }),
    [
      'All 10 keywords are in the top 10, 10 more than on 1 March: from second to first of two sites.',
      '10 keywords rose. Biggest win: “keyword 1” 14 → 1.',
      'rival.com follows with 10 keywords in the top 10.',
    ],
  ],
  [
    'videos, steady',
    () => jobOf({ keywords: some(10, { kind: 'video', operation: 'alpha.videos', own: 5, volume: 9000 }) }),
    ['All 10 keywords are in the top 10, as many as on 1 March.', 'No competitor is tracked.'],
  ],
  [
    'web results before news and answers',
    () =>
      jobOf({
        keywords: [
          ...some(6, { own: turn(9, 3), volume: 1000 }),
          ...some(9, { kind: 'news', operation: 'alpha.news', own: 1 }),
          ...some(9, { kind: 'reference', operation: 'alpha.ai', own: 1 }),
        ],
      }),
    [
      'About 660 clicks a month, 492 more than on 1 March.',
      '6 keywords won about 492 clicks. Biggest win: “keyword 1” 9 → 3, about 82 clicks.',
      'All 6 keywords are in the top 10, all in the top 3. No competitor is tracked.',
    ],
    [
      'Etwa 660 Klicks im Monat, 492 mehr als am 1. März.',
      '6 Keywords haben etwa 492 Klicks gewonnen. Größter Gewinn: „keyword 1“ 9 → 3, etwa 82 Klicks.',
      'Alle 6 Keywords in den Top 10, alle in den Top 3. Es wird kein Wettbewerber beobachtet.',
    ],
  ],
  [
    'a tag that moved more than the whole',
    () =>
      jobOf({
        keywords: [
          ...some(6, { own: turn(9, 2), tags: ['brand'], volume: 1000 }),
          ...some(6, { own: turn(2, 8), tags: ['price'], volume: 900 }),
        ],
      }),
    [
      'About 1,110 clicks a month, 10% more than on 1 March.',
      '6 keywords won about 774 clicks, 6 lost about 675. Biggest win: “keyword 1” 9 → 2, about 129 clicks; biggest loss: “keyword 7” 2 → 8, about 113 clicks.',
      'The tag brand (6 keywords) moved more than the whole: 774 more clicks.',
    ],
  ],
  [
    'suspect as a whole',
    () => {
      const job = jobOf({ keywords: tenSteady })
      const suspect = { day: march(29), gone: 40, ranked: 50, alike: 0, audience: 'team' as const }
      return { ...job, data: { ...job.data, history: { ...job.data.history, suspect } } }
    },
    [
      'Suspect: 40 of 50 ranks are gone at once. Check before you tell anyone.',
      'Visibility steady at 55.1% since 1 March, first of two sites.',
      'rival.com follows with a visibility of 25.3%.',
    ],
  ],
  [
    'from second to third of three',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(7, 1), other: 2, volume: 1000 }) }),
    [
      'Steady at about 1,100 clicks a month since 1 March: from second to third of three sites, passed by rival.com (2,850).',
      'rival.com rose from about 400 to 2,850 clicks a month.',
      'All 10 keywords are in the top 10, all in the top 3.',
    ],
    [
      'Stabil bei etwa 1.100 Klicks im Monat seit dem 1. März: von Platz 2 auf Platz 3 von drei Websites, überholt von rival.com (2.850).',
      'rival.com ist von etwa 400 auf 2.850 Klicks im Monat gestiegen.',
      'Alle 10 Keywords in den Top 10, alle in den Top 3.',
    ],
  ],
]
