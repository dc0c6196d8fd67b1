import type { FindingFacts } from '../../../src/report/findings/facts.ts'
import { march } from '../metrics/history.ts'
import { historyOf, jobOf, out, some, turn, unknown, waves } from './job.ts'

const tenSteady = some(10, { own: 2, rival: 5 })
const grown = (n: number) => some(n, { own: turn(9, 2), rival: 5 })

type Situation = readonly [
  title: string,
  facts: () => FindingFacts,
  english: readonly string[],
  german?: readonly string[],
]

/** Situations of a job with the sentences above its figures, in English and in German. */
export const situations: readonly Situation[] = [
  [
    'a job that has not run',
    () => jobOf({ keywords: [], length: 0 }),
    ['The job has not run yet, so there are no figures.'],
  ],
  [
    'no targets',
    () => ({ ...jobOf({ keywords: [] }), history: { ...historyOf({ keywords: [] }), days: [march(1)] } }),
    ['No website is tracked, so there is nothing to rank.'],
  ],
  [
    'all steady',
    () => jobOf({ keywords: tenSteady }),
    [
      'Visibility 55.1%, steady over 28 days.',
      'You lead in visibility; rival.com follows with 25.3%.',
      'All 10 keywords are in the top 10, and all in the top 3.',
    ],
    [
      'Sichtbarkeit 55,1 %, kaum anders als vor 28 Tagen.',
      'Bei der Sichtbarkeit liegen Sie vorn; rival.com folgt mit 25,3 %.',
      'Alle 10 Suchbegriffe in den Top 10, und alle in den Top 3.',
    ],
  ],
  [
    'steady alone',
    () => jobOf({ keywords: some(10, { own: 2 }) }),
    [
      'Visibility 55.1%, steady over 28 days.',
      'All 10 keywords are in the top 10, and all in the top 3.',
      'Average position 2.0, steady over 28 days.',
    ],
  ],
  [
    'half of them rose',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...grown(5)] }),
    [
      'Visibility 55.1%, up 22.6 points in 28 days.',
      '5 keywords came into the top 3.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
  ],
  [
    'half of them fell',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(2, 9), rival: 5 })] }),
    [
      'Visibility 32.5%, down 22.6 points in 28 days.',
      '5 keywords fell out of the top 3.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
    [
      'Sichtbarkeit 32,5 %, minus 22,6 Prozentpunkte in 28 Tagen.',
      '5 Suchbegriffe sind aus den Top 3 gefallen.',
      'Bei der Sichtbarkeit liegen Sie vorn; rival.com folgt mit 25,3 %.',
    ],
  ],
  [
    'fell out of the top 10',
    () => jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(8, 19), rival: 5 })] }),
    [
      'Visibility 27.5%, down 5.6 points in 28 days.',
      '5 keywords fell out of the top 10.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
  ],
  [
    'left the results',
    () =>
      jobOf({ keywords: [...some(5, { own: 2, rival: 5 }), ...some(5, { own: turn(8, out), rival: 5 })] }),
    [
      'Visibility 27.5%, down 5.6 points in 28 days.',
      '5 keywords fell out of the top 10.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
  ],
  [
    'swings',
    () => jobOf({ keywords: [...some(9, { own: 2, rival: 5 }), { own: waves(1, 2, 1, 3), rival: 5 }] }),
    [
      'Visibility 59.6%, steady over 28 days.',
      'You lead in visibility; rival.com follows with 25.3%.',
      'All 10 keywords are in the top 10, and all in the top 3.',
    ],
  ],
  [
    'swings much',
    () => jobOf({ keywords: some(10, { own: waves(3, 6, 2, 5, 3), rival: waves(5, 9, 5, 7) }) }),
    [
      'Visibility 25.3%, steady over 28 days.',
      'rival.com, at 25.3%, is level with you in visibility.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'rival passed',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(7, 1) }) }),
    [
      'Visibility 38.6%, steady over 28 days.',
      'rival.com rose 86.0 points to 100.0% and is now ahead of you.',
      'All 10 keywords are in the top 10, and all in the top 3.',
    ],
    [
      'Sichtbarkeit 38,6 %, kaum anders als vor 28 Tagen.',
      'rival.com ist um 86,0 Prozentpunkte auf 100,0 % gestiegen und liegt jetzt vor Ihnen.',
      'Alle 10 Suchbegriffe in den Top 10, und alle in den Top 3.',
    ],
  ],
  [
    'rival passed, own fell',
    () => jobOf({ keywords: some(10, { own: turn(2, 9), rival: 5 }) }),
    [
      'Visibility 9.8%, down 45.3 points in 28 days.',
      'rival.com, steady at 25.3%, is now ahead of you.',
      '10 keywords fell out of the top 3.',
    ],
    [
      'Sichtbarkeit 9,8 %, minus 45,3 Prozentpunkte in 28 Tagen.',
      'rival.com, stabil bei 25,3 %, liegt jetzt vor Ihnen.',
      '10 Suchbegriffe sind aus den Top 3 gefallen.',
    ],
  ],
  [
    'own passed rival',
    () => jobOf({ keywords: some(10, { own: turn(9, 2), rival: 5 }) }),
    [
      'Visibility 55.1%, up 45.3 points in 28 days.',
      'rival.com, steady at 25.3%, is now behind you.',
      '10 keywords came into the top 3.',
    ],
  ],
  [
    'rival fell behind',
    () => jobOf({ keywords: some(10, { own: 3, rival: turn(1, 9) }) }),
    [
      'Visibility 38.6%, steady over 28 days.',
      'rival.com fell 90.2 points to 9.8% and is now behind you.',
      'All 10 keywords are in the top 10, and all in the top 3.',
    ],
  ],
  [
    'rival rose, still behind',
    () => jobOf({ keywords: some(10, { own: 1, rival: turn(9, 4) }) }),
    [
      'Visibility 100.0%, steady over 28 days.',
      'rival.com rose 18.2 points to 28.1% and stays behind you.',
      'All 10 keywords are in the top 10, and all in the top 3.',
    ],
  ],
  [
    'rival rose, further ahead',
    () => jobOf({ keywords: some(10, { own: 8, rival: turn(4, 1) }) }),
    [
      'Visibility 11.2%, steady over 28 days.',
      'rival.com rose 71.9 points to 100.0% and stays ahead of you.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'rival fell, still ahead',
    () => jobOf({ keywords: some(10, { own: 8, rival: turn(1, 4) }) }),
    [
      'Visibility 11.2%, steady over 28 days.',
      'rival.com fell 71.9 points to 28.1% and stays ahead of you.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'level',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(9, 4) }) }),
    [
      'Visibility 28.1%, steady over 28 days.',
      'rival.com rose 18.2 points to 28.1% and is now level with you.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
    [
      'Sichtbarkeit 28,1 %, kaum anders als vor 28 Tagen.',
      'rival.com ist um 18,2 Prozentpunkte auf 28,1 % gestiegen und liegt jetzt gleichauf mit Ihnen.',
      'Alle 10 Suchbegriffe in den Top 10, keiner in den Top 3.',
    ],
  ],
  [
    'two rivals',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(6, 5), other: turn(9, 2) }) }),
    [
      'Visibility 28.1%, steady over 28 days.',
      'other.com rose 45.3 points to 55.1% and is now ahead of you.',
      'All 10 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'rival for other keywords',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 4, rival: turn(9, 2) })] }),
    [
      'Visibility 28.1%, steady over 28 days.',
      'rival.com rose 45.3 points to 55.1%.',
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
      'Visibility 20.0%, down 12.8 points in 28 days.',
      'The tag that fell most is price, down 28.8 points to 9.8%.',
      '8 keywords fell out of the top 3.',
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
      'Visibility 35.0%, up 7.9 points in 28 days.',
      'The tag that rose most is brand, up 37.2 points to 55.1%.',
      '10 keywords came into the top 3, 8 fell out.',
      'The tag that fell most is price, down 28.8 points to 9.8%.',
    ],
    [
      'Sichtbarkeit 35,0 %, plus 7,9 Prozentpunkte in 28 Tagen.',
      'Am stärksten gestiegen ist die Gruppe brand: plus 37,2 Prozentpunkte auf 55,1 %.',
      '10 Suchbegriffe sind neu in den Top 3, 8 sind herausgefallen.',
      'Am stärksten gefallen ist die Gruppe price: minus 28,8 Prozentpunkte auf 9,8 %.',
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
      'Visibility 52.5%, up 33.3 points in 28 days.',
      'rival.com rose 18.4 points to 26.4% and stays behind you.',
      'The tag that rose most is brand, up 100.0 points.',
      '6 keywords came into the top 3.',
      '6 of 24 keywords are new and not part of the changes.',
    ],
  ],
  [
    'tag on all',
    () => jobOf({ keywords: some(10, { own: turn(6, 2), tags: ['brand'] }) }),
    [
      'Visibility 55.1%, up 37.2 points in 28 days.',
      '10 keywords came into the top 3.',
      'All 10 keywords are in the top 10, and all in the top 3.',
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
      'Visibility 23.9%, down 6.6 points in 28 days.',
      '3 keywords fell out of the top 3.',
      'All 13 keywords are in the top 10, none in the top 3.',
    ],
  ],
  [
    'volumes, rose',
    () =>
      jobOf({
        keywords: [...some(10, { own: 4, volume: 1000 }), ...some(3, { own: turn(9, 3), volume: 5000 })],
      }),
    [
      'Visibility 30.5%, up 6.6 points in 28 days.',
      '3 keywords came into the top 3.',
      'About 2,450 clicks a month, 1,230 more than 28 days before.',
    ],
    [
      'Sichtbarkeit 30,5 %, plus 6,6 Prozentpunkte in 28 Tagen.',
      '3 Suchbegriffe sind neu in den Top 3.',
      'Etwa 2.450 Klicks im Monat, 1.230 mehr als vor 28 Tagen.',
    ],
  ],
  [
    'volumes, steady',
    () => jobOf({ keywords: some(10, { own: 4, volume: 1000 }) }),
    [
      'Visibility 28.1%, steady over 28 days.',
      'About 800 clicks a month, steady over 28 days.',
      'All 10 keywords are in the top 10, none in the top 3.',
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
      'Visibility 28.1%, steady over 28 days.',
      'You lead in visibility; rival.com follows with 17.9%.',
      'All 73 keywords are in the top 10, none in the top 3.',
      '7 of 80 keywords could not be checked.',
    ],
    [
      'Sichtbarkeit 28,1 %, kaum anders als vor 28 Tagen.',
      'Bei der Sichtbarkeit liegen Sie vorn; rival.com folgt mit 17,9 %.',
      'Alle 73 Suchbegriffe in den Top 10, keiner in den Top 3.',
      '7 von 80 Suchbegriffen konnten nicht geprüft werden.',
    ],
  ],
  [
    'a quarter not checked',
    () => jobOf({ keywords: [...some(60, { own: 4 }), ...some(20, { own: turn(4, unknown, 1) })] }),
    [
      '20 of 80 keywords could not be checked: all figures are of the others.',
      'Visibility 28.1%, steady over 28 days.',
      'All 60 keywords are in the top 10, none in the top 3.',
    ],
    [
      '20 von 80 Suchbegriffen konnten nicht geprüft werden: Alle Zahlen gelten für die übrigen.',
      'Sichtbarkeit 28,1 %, kaum anders als vor 28 Tagen.',
      'Alle 60 Suchbegriffe in den Top 10, keiner in den Top 3.',
    ],
  ],
  [
    'nothing ranks, half not checked',
    () => jobOf({ keywords: [...some(40, { own: out }), ...some(40, { own: unknown })] }),
    [
      '40 of 80 keywords could not be checked: all figures are of the others.',
      'None of the 40 keywords is in the top 30. None was on 1 March 2026 either.',
    ],
  ],
  [
    'last day unknown',
    () => jobOf({ keywords: some(80, { own: turn(4, unknown, 1) }) }),
    [
      'None of the 80 keywords could be checked on 29 March 2026. On 28 March 2026, the last day with enough of them, visibility was 28.1%.',
    ],
  ],
  [
    'last days partial',
    () => jobOf({ keywords: [...some(50, { own: turn(4, unknown, 3) }), ...some(30, { own: 4 })] }),
    [
      'Only 30 of 80 keywords could be checked on 29 March 2026, too few for a trend. On 26 March 2026, the last day with enough of them, visibility was 28.1%.',
    ],
    [
      'Am 29. März 2026 konnten nur 30 von 80 Suchbegriffen geprüft werden, zu wenige für einen Trend. Am 26. März 2026, dem letzten Tag mit genügend Prüfungen, lag die Sichtbarkeit bei 28,1 %.',
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
      'None of the 80 keywords is in the top 30. None was on 1 March 2026 either.',
      'rival.com leads in visibility with 38.6%.',
    ],
  ],
  [
    'nothing ranks any more',
    () =>
      jobOf({
        keywords: [...some(70, { own: out, rival: 3 }), ...some(10, { own: turn(12, out), rival: 3 })],
      }),
    [
      'None of the 80 keywords is in the top 30. On 1 March 2026, 10 were.',
      'rival.com leads in visibility with 38.6%.',
    ],
    [
      'Keiner der 80 Suchbegriffe ist in den Top 30. Am 1. März 2026 waren es 10.',
      'Bei der Sichtbarkeit liegt rival.com mit 38,6 % vorn.',
    ],
  ],
  [
    'nothing ranks, no rival',
    () => jobOf({ keywords: some(80, { own: out }) }),
    ['None of the 80 keywords is in the top 30. None was on 1 March 2026 either.'],
  ],
  [
    'nothing ranks, first day',
    () => jobOf({ keywords: some(80, { own: out }), length: 1 }),
    ['None of the 80 keywords is in the top 30.'],
  ],
  [
    'depths differ',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: -51 })] }),
    ['None of the 16 keywords was found in the checked results. None was on 1 March 2026 either.'],
  ],
  [
    'low ranks, better',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: turn(25, 14) })] }),
    [
      'No keyword is in the top 10, 8 of 16 rank below it. Average position 22.5, 5.5 better than 28 days before.',
    ],
  ],
  [
    'low ranks, worse',
    () => jobOf({ keywords: [...some(8, { own: out }), ...some(8, { own: turn(14, 25) })] }),
    [
      'No keyword is in the top 10, 8 of 16 rank below it. Average position 28.0, 5.5 worse than 28 days before.',
    ],
    [
      'Kein Suchbegriff in den Top 10, 8 von 16 dahinter. Durchschnittsposition 28,0, um 5,5 schlechter als vor 28 Tagen.',
    ],
  ],
  [
    'first day',
    () => jobOf({ keywords: tenSteady, length: 1 }),
    [
      'Visibility 55.1%. This is the first day, so there is nothing to compare with yet.',
      'You lead in visibility; rival.com follows with 25.3%.',
      'All 10 keywords are in the top 10, and all in the top 3.',
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
      'Visibility 20.0%. This is the first day, so there is nothing to compare with yet.',
      'rival.com leads in visibility with 47.8%.',
      'About 147 clicks a month.',
    ],
    [
      'Sichtbarkeit 20,0 %. Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
      'Bei der Sichtbarkeit liegt rival.com mit 47,8 % vorn.',
      'Etwa 147 Klicks im Monat.',
    ],
  ],
  [
    'two days',
    () => jobOf({ keywords: some(10, { own: [4, 2], rival: 5 }), length: 2 }),
    [
      'Visibility 55.1%, up 27.0 points since the day before.',
      '10 keywords came into the top 3.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
  ],
  [
    'two days, tiny change',
    () => jobOf({ keywords: [...some(99, { own: 4, rival: 5 }), { own: [4, 3], rival: 5 }], length: 2 }),
    [
      'Visibility 28.2%, steady since the day before.',
      '“keyword 100” came into the top 3.',
      'You lead in visibility; rival.com follows with 25.3%.',
    ],
  ],
  [
    'history begins later',
    () => jobOf({ keywords: some(10, { own: 4 }), length: 9, compare: { day: '2026-02-09', tolerance: 7 } }),
    [
      'Visibility 28.1%. There is nothing to compare with: the first figures are of 1 March 2026.',
      'All 10 keywords are in the top 10, none in the top 3.',
      'Average position 4.0.',
    ],
    [
      'Sichtbarkeit 28,1 %. Es gibt keinen Vergleich: Die ersten Zahlen sind vom 1. März 2026.',
      'Alle 10 Suchbegriffe in den Top 10, keiner in den Top 3.',
      'Durchschnittsposition 4,0.',
    ],
  ],
  [
    'not checked then',
    () => jobOf({ keywords: some(10, { own: [...Array(20).fill(0), ...Array(9).fill(4)] }) }),
    [
      'Visibility 28.1%. There is nothing to compare with: the first figures are of 21 March 2026.',
      'All 10 keywords are in the top 10, none in the top 3.',
      'Average position 4.0.',
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
      'Visibility 28.1%, steady over 26 days.',
      'All 10 keywords are in the top 10, none in the top 3.',
      'Average position 4.0, steady over 26 days.',
      'Compared with 3 March 2026, because no figures of 1 March 2026 can be compared.',
    ],
  ],
  [
    'one keyword',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(7, 4), rival: 2 }] }),
    ['“oak desk” is at rank 4, up 3 places in 28 days.', 'Best competitor: rival.com, at rank 2.'],
    [
      '„oak desk“ steht auf Platz 4, 3 Plätze besser als vor 28 Tagen.',
      'Bester Wettbewerber: rival.com auf Platz 2.',
    ],
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
      '2 of 2 keywords are in the top 10, none in the top 3.',
      '“oak desk” (us) is at rank 4, up 3 places in 28 days.',
      '“oak desk” (gb · num=20) is at rank 9, unchanged in 28 days.',
    ],
  ],
  [
    'one keyword, left',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(7, out) }] }),
    ['“oak desk” is not in the top 30; on 1 March 2026 it was at rank 7.'],
    ['„oak desk“ ist nicht in den Top 30; am 1. März 2026 war es Platz 7.'],
  ],
  [
    'one keyword, entered',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(out, 12) }] }),
    ['“oak desk” is at rank 12; on 1 March 2026 it was not found.'],
    ['„oak desk“ steht auf Platz 12; am 1. März 2026 war die Website dort nicht zu finden.'],
  ],
  [
    'one keyword, unknown',
    () => jobOf({ keywords: [{ query: 'oak desk', own: turn(4, unknown) }] }),
    ['“oak desk” could not be checked.'],
  ],
  [
    'one keyword, one day',
    () => jobOf({ keywords: [{ query: 'oak desk', own: 4 }], length: 1 }),
    ['“oak desk” is at rank 4.', 'This is the first day, so there is nothing to compare with yet.'],
  ],
  [
    'one keyword, absent',
    () => jobOf({ keywords: [{ query: 'oak desk', own: out }] }),
    ['“oak desk” is not in the top 30, unchanged in 28 days.'],
  ],
  [
    'one keyword same',
    () => jobOf({ keywords: [{ query: 'oak desk', own: 1 }] }),
    ['“oak desk” is at rank 1, unchanged in 28 days.'],
  ],
  [
    'three keywords',
    () => jobOf({ keywords: [{ own: turn(7, 4) }, { own: turn(4, 5) }, { own: out }] }),
    [
      '2 of 3 keywords are in the top 10, none in the top 3.',
      '“keyword 1” is at rank 4, up 3 places in 28 days.',
      '“keyword 2” is at rank 5, down 1 place in 28 days.',
      '“keyword 3” is not in the top 30, unchanged in 28 days.',
    ],
    [
      '2 von 3 Suchbegriffen in den Top 10, keiner in den Top 3.',
      '„keyword 1“ steht auf Platz 4, 3 Plätze besser als vor 28 Tagen.',
      '„keyword 2“ steht auf Platz 5, einen Platz schlechter als vor 28 Tagen.',
      '„keyword 3“ ist nicht in den Top 30, wie vor 28 Tagen.',
    ],
  ],
  [
    'few keywords, first day: the best rank first',
    () => jobOf({ keywords: [{ own: 16 }, { own: unknown }, { own: out }, { own: 4 }], length: 1 }),
    [
      '1 of 3 keywords is in the top 10, none in the top 3. This is the first day, so there is nothing to compare with yet.',
      '“keyword 4” is at rank 4.',
      '“keyword 1” is at rank 16.',
      '“keyword 3” is not in the top 30.',
      '“keyword 2” could not be checked.',
    ],
    [
      '1 von 3 Suchbegriffen in den Top 10, keiner in den Top 3. Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
      '„keyword 4“ steht auf Platz 4.',
      '„keyword 1“ steht auf Platz 16.',
      '„keyword 3“ ist nicht in den Top 30.',
      '„keyword 2“ konnte nicht geprüft werden.',
    ],
  ],
  [
    'few keywords, low ranks',
    () => jobOf({ keywords: [{ own: 14 }, { own: 20 }] }),
    [
      'None of the 2 keywords is in the top 10.',
      '“keyword 1” is at rank 14, unchanged in 28 days.',
      '“keyword 2” is at rank 20, unchanged in 28 days.',
    ],
    [
      'Keiner der 2 Suchbegriffe ist in den Top 10.',
      '„keyword 1“ steht auf Platz 14, wie vor 28 Tagen.',
      '„keyword 2“ steht auf Platz 20, wie vor 28 Tagen.',
    ],
  ],
  [
    'few keywords of a competitor',
    () => jobOf({ keywords: some(2, { own: 4, rival: 1 }), target: 'rival.com' }),
    [
      'rival.com: 2 of 2 keywords are in the top 10, 2 in the top 3.',
      '“keyword 1” is at rank 1, unchanged in 28 days.',
      '“keyword 2” is at rank 1, unchanged in 28 days.',
    ],
  ],
  [
    'few keywords, nothing ranks',
    () => jobOf({ keywords: [{ own: out }, { own: turn(7, out) }, { own: unknown }] }),
    [
      'None of the 2 keywords is in the top 30. On 1 March 2026, 1 was.',
      '“keyword 2” is not in the top 30; on 1 March 2026 it was at rank 7.',
      '“keyword 3” could not be checked.',
    ],
  ],
  [
    'few keywords, nothing ranks on the first day',
    () => jobOf({ keywords: some(3, { own: out }), length: 1 }),
    [
      'None of the 3 keywords is in the top 30.',
      'This is the first day, so there is nothing to compare with yet.',
    ],
  ],
  [
    'few keywords, none checked',
    () => jobOf({ keywords: some(3, { own: turn(4, unknown, 1) }) }),
    [
      'None of the 3 keywords could be checked on 29 March 2026. On 28 March 2026, the last day with enough of them, visibility was 28.1%.',
    ],
  ],
  [
    'few keywords, one checked',
    () => jobOf({ keywords: [{ own: unknown }, { own: out }, { own: unknown }], length: 1 }),
    [
      '“keyword 2” is not in the top 30.',
      '“keyword 1” could not be checked.',
      '“keyword 3” could not be checked.',
      'This is the first day, so there is nothing to compare with yet.',
    ],
  ],
  [
    'only competitors',
    () => jobOf({ keywords: some(10, { rival: turn(7, 2), other: 3 }), target: 'rival.com' }),
    [
      'rival.com: visibility 55.1%, up 41.1 points in 28 days.',
      'other.com, steady at 38.6%, is now behind rival.com.',
      '10 keywords came into the top 3.',
    ],
  ],
  [
    'of a competitor',
    () => jobOf({ keywords: some(10, { own: 4, rival: turn(7, 2), other: 3 }), target: 'rival.com' }),
    [
      'rival.com: visibility 55.1%, up 41.1 points in 28 days.',
      'acme.com, steady at 28.1%, is now behind rival.com.',
      '10 keywords came into the top 3.',
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
      '12 of 40 AI answers cite you, steady over 28 days.',
      'rival.com rose 30.0 points to 100.0% and stays ahead of you.',
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
    ['12 of 40 AI answers cite you, 12 more than 28 days before.'],
    ['12 von 40 KI-Antworten zitieren Sie, 12 mehr als vor 28 Tagen.'],
  ],
  [
    'AI answers, none',
    () => jobOf({ keywords: some(28, { kind: 'reference', operation: 'alpha.ai', own: -9 }) }),
    ['None of the 28 AI answers cites you. None did on 1 March 2026 either.'],
  ],
  [
    'two engines',
    () => jobOf({ keywords: [...some(10, { own: 4 }), ...some(10, { own: 1, operation: 'beta.search' })] }),
    [
      'Visibility 28.1%, steady over 28 days.',
      'All 10 keywords are in the top 10, none in the top 3.',
      'Average position 4.0, steady over 28 days.',
    ],
  ],
  [
    'added',
    () => jobOf({ keywords: [...some(10, { own: turn(6, 4) }), ...some(4, { own: turn(null, 1) })] }),
    [
      'Visibility 48.6%, up 10.2 points in 28 days.',
      'All 14 keywords are in the top 10, 4 in the top 3.',
      'Average position 3.1, 2.0 better than 28 days before.',
      '4 of 14 keywords are new and not part of the changes.',
    ],
    [
      'Sichtbarkeit 48,6 %, plus 10,2 Prozentpunkte in 28 Tagen.',
      'Alle 14 Suchbegriffe in den Top 10, 4 in den Top 3.',
      'Durchschnittsposition 3,1, um 2,0 besser als vor 28 Tagen.',
      '4 von 14 Suchbegriffen sind neu und nicht Teil der Veränderungen.',
    ],
  ],
  [
    'mostly added',
    () => jobOf({ keywords: [...some(3, { own: turn(6, 4) }), ...some(40, { own: turn(null, 1) })] }),
    [
      'Visibility 95.0%. Only 3 of 43 keywords can be compared with 1 March 2026, too few for a trend.',
      'All 43 keywords are in the top 10, 40 in the top 3.',
      'Average position 1.2.',
      '40 of 43 keywords are new and not part of the changes.',
    ],
    [
      'Sichtbarkeit 95,0 %. Nur 3 von 43 Suchbegriffen lassen sich mit dem 1. März 2026 vergleichen, zu wenige für einen Trend.',
      'Alle 43 Suchbegriffe in den Top 10, 40 in den Top 3.',
      'Durchschnittsposition 1,2.',
      '40 von 43 Suchbegriffen sind neu und nicht Teil der Veränderungen.',
    ],
  ],
  [
    'partial days',
    () => jobOf({ keywords: [...some(4, { own: 4 }), ...some(8, { own: waves(4, 4, 4, 0, 4) })] }),
    [
      'Only 4 of 12 keywords could be checked on 29 March 2026, too few for a trend. On 28 March 2026, the last day with enough of them, visibility was 28.1%.',
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
      'Visibility 16.5%, steady over 28 days.',
      '9 of 12 keywords are in the top 10, none in the top 3.',
      'Average position 7.3, steady over 28 days.',
    ],
  ],
  [
    'one came in',
    () => jobOf({ keywords: [...some(6, { own: 4 }), { query: 'oak desk', own: turn(12, 3) }] }),
    [
      'Visibility 29.6%, up 5.5 points in 28 days.',
      '“oak desk” came into the top 3.',
      'All 7 keywords are in the top 10, 1 in the top 3.',
    ],
  ],
  [
    'a year',
    () => jobOf({ keywords: some(10, { own: turn(9, 4, 100, 366) }), length: 366 }),
    [
      'Visibility 28.1%, up 18.2 points since 1 March 2026.',
      'All 10 keywords are in the top 10, none in the top 3.',
      'Average position 4.0, 5.0 better than on 1 March 2026.',
    ],
    [
      'Sichtbarkeit 28,1 %, plus 18,2 Prozentpunkte seit dem 1. März 2026.',
      'Alle 10 Suchbegriffe in den Top 10, keiner in den Top 3.',
      'Durchschnittsposition 4,0, um 5,0 besser als am 1. März 2026.',
    ],
  ],
]
