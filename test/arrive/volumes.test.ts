import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDay } from '../../src/arrive/csv.ts'
import { readVolumes, type VolumeOptions } from '../../src/arrive/volumes.ts'
import { dayMs, dayText } from '../../src/model/time.ts'
import { openStore } from '../../src/store/sqlite/open.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'volumes-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

const today = readDay('2026-11-26')
const read = async (text: string | Buffer, options: Partial<VolumeOptions> = {}) => {
  const path = join(folder, 'file.csv')
  await writeFile(path, text)
  return await readVolumes(path, { country: null, day: null, columns: {}, now: today * dayMs, ...options })
}
const shown = ({ rows }: Awaited<ReturnType<typeof read>>) =>
  rows.map(
    ({ query, country, volume, least, most, day }) =>
      `${query} ${country || '-'} ${volume ?? `${least}..${most}`} ${dayText(day)}`,
  )

const planner = (rows: string, months = 'Searches: Oct 2026') =>
  Buffer.from(
    `\ufeffKeyword Stats 2026-11-01 at 10_22_33\nNovember 1, 2025 - October 31, 2026\nKeyword\tCurrency\tAvg. monthly searches\tCompetition\t${months}\n${rows}`,
    'utf16le',
  )

describe('Keyword Planner', () => {
  test('UTF-16 with two lines of title: the day is in the first one', async () => {
    const found = await read(planner('Standing Desk\tUSD\t1300\tHigh\t1300\ndesk lamp\tUSD\t\tLow\t\n'), {
      country: 'us',
    })
    expect(shown(found)).toEqual(['standing desk us 1300 2026-11-01'])
    expect(found).toMatchObject({ source: 'Keyword Planner', empty: 1 })
  })

  const steps = ['50', '500', '5000', '0', '50000']
    .map((step, place) => `desk ${place}\tUSD\t${step}\tLow\t\n`)
    .join('')
  test('of an account with little spending has ranges, which are no volumes', async () => {
    expect(shown(await read(planner(steps), { country: 'us' }))).toEqual([
      'desk 0 us 10..100 2026-11-01',
      'desk 1 us 100..1000 2026-11-01',
      'desk 2 us 1000..10000 2026-11-01',
      'desk 3 us 0..10 2026-11-01',
      'desk 4 us 10000..100000 2026-11-01',
    ])
  })

  test('with one number between them, or with months, has numbers', async () => {
    const values = async (rows: string) =>
      (await read(planner(rows), { country: 'us' })).rows.map(({ volume }) => volume)
    expect(await values(`${steps}desk 5\tUSD\t720\tLow\t\n`)).toEqual([50, 500, 5000, 0, 50000, 720])
    expect(await values(steps.replaceAll('\t\n', '\t10\n'))).toEqual([50, 500, 5000, 0, 50000])
  })

  test('a row that ends before its volume has none; a last one without a line end may be cut', async () => {
    const found = await read(planner('desk\tUSD\t1300\tHigh\t10\nlamp\tUSD\nchair\n'), { country: 'us' })
    expect([shown(found), found.empty]).toEqual([['desk us 1300 2026-11-01'], 2])
    await expect(read(planner('desk\tUSD\t1300\tHigh\t10\nlamp\tUSD'), { country: 'us' })).rejects.toThrow(
      'the row has 2 cells, not 5: the file may be cut',
    )
  })

  test('ranges in words are ranges', async () => {
    expect(shown(await read(planner('desk\tUSD\t1K – 10K\tLow\t\n'), { country: '' }))).toEqual([
      'desk - 1000..10000 2026-11-01',
    ])
  })
})

test('Semrush: the volume, thousands apart', async () => {
  const text =
    'Keyword,Intent,Volume,Trend,Keyword Difficulty,CPC (USD),Competitive Density,SERP Features,Number of Results\n"desk, standing",Commercial,"1,300","0.1,0.2",45,1.2,1,Images,1200000\n'
  const found = await read(text, { country: 'de', day: readDay('2026-01-31') })
  expect([found.source, ...shown(found)]).toEqual(['Semrush', 'desk, standing de 1300 2026-01-31'])
})

test('Ahrefs: the volume of the country and never the global one; each row has its day', async () => {
  const text =
    '#,Keyword,Country,Difficulty,Volume,CPC,CPS,Parent Keyword,Last Update,SERP Features,Global volume,Traffic potential\n1,standing desk,gb,40,900,1,1,desk,2026-10-05 12:00:00,,90000,1200\n'
  const found = await read(text)
  expect([found.source, ...shown(found)]).toEqual(['Ahrefs', 'standing desk gb 900 2026-10-05'])
})

test('any CSV by the names of its columns; the day is that of today where nothing says another one', async () => {
  const found = await read('Phrase;Searches;Market\ndesk;720;usa\nlampe;90;Deutschland\n', {
    columns: { query: 'Phrase', volume: 'Searches', country: 'Market' },
  })
  expect([found.source, ...shown(found)]).toEqual([
    'file.csv',
    'desk us 720 2026-11-26',
    'lampe de 90 2026-11-26',
  ])
})

test.each([
  ['carriage returns alone', 'keyword,volume\rdesk,5\rchair,7\r'],
  ['a separator that the first line names', 'sep=|\nkeyword|volume\ndesk|5\nchair|7\n'],
])('of a file with %s every row counts', async (_, text) => {
  expect(shown(await read(text, { country: 'us' }))).toEqual([
    'desk us 5 2026-11-26',
    'chair us 7 2026-11-26',
  ])
})

test('between semicolons a point parts thousands', async () => {
  expect(shown(await read('keyword;volume\nstuhl;1.234\n', { country: 'de' }))).toEqual([
    'stuhl de 1234 2026-11-26',
  ])
  await expect(read('keyword,volume\nchair,1.234\n', { country: 'us' })).rejects.toThrow(
    'can mean 1,234 or 1.234',
  )
})

test.each([
  ['no columns', 'a,b\n1,2\n', {}, 'has no columns of a keyword and its volume'],
  ['no country', 'keyword,volume\ndesk,1\n', {}, 'does not say of which country'],
  [
    'a wrong country',
    'keyword,volume,country\ndesk,1,Atlantis\n',
    {},
    "file.csv:2: 'Atlantis' is no country",
  ],
  ['a wrong number', 'keyword,volume\ndesk,10\nlamp,many\n', { country: 'us' }, 'file.csv:3: the volume'],
  ['no rows', 'keyword,volume\n', { country: 'us' }, 'has no volume below its header'],
])('%s ends in one sentence', async (_, text, options, wanted) => {
  await expect(read(text, options)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(wanted),
  })
})

test.each([
  [
    'a last row that was cut',
    'keyword,volume,cpc\ndesk,5,1\nchair,10',
    'file.csv:3: the row has 2 cells, not 3',
  ],
  ['a number that parts its row', 'keyword,volume\nchair,1,234\n', 'file.csv:2: the row has 3 cells, not 2'],
  [
    'a country that is misspelled',
    'keyword,volume,country\nchair,1,Deutschlnd\n',
    "file.csv:2: 'Deutschlnd' is no country",
  ],
  ['a code of no country', 'keyword,volume,country\nchair,1,xx\n', "file.csv:2: 'xx' is no country"],
  [
    'a keyword of two volumes',
    'keyword,volume\nchair,1000\ndesk,7\n Chair,5\n',
    "file.csv:4: 'chair' has the volume 5 here and 1,000 in line 2. Leave one of the two rows: of one day, only the country tells volumes apart, and no other column, such as a city or a device, is read; nothing was stored",
  ],
  [
    'a keyword of two ranges',
    'keyword,volume\nchair,1K – 10K\nchair,10 – 100\n',
    "file.csv:3: 'chair' has the volume 10 to 100 here and 1,000 to 10,000 in line 2",
  ],
  [
    'two columns of one name',
    'keyword,volume,Volume\nchair,1,5\n',
    "file.csv:1: two columns are called 'volume'",
  ],
  [
    'two columns of volumes',
    'keyword,volume,Search volume\nchair,1,5\n',
    "say the volume, 'volume' and 'Search volume'. Name the one that counts: --column volume='Search volume'",
  ],
])('%s is refused with its line, whatever country is named', async (_, text, sentence) => {
  await expect(read(text, { country: 'us' })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(sentence),
  })
})

test.each([
  ['Semrush', 'Keyword,Intent,Volume,CPC,Trend\r\nlamp,I,10,1,2\r\ndesk,I,100\r\n', 'desk us 100 2026-11-26'],
  ['columns without a name', 'Keyword,Volume,,\nlamp,10,,\ndesk,100', 'desk us 100 2026-11-26'],
  [
    'a country and a day',
    'Keyword,Volume,Country,Date\nlamp,10,us,2026-11-26\ndesk,100\n',
    'desk us 100 2026-11-26',
  ],
])('a row that ends early, as Excel drops empty cells, counts: %s', async (_, text, wanted) => {
  expect(shown(await read(text, { country: 'us' }))).toEqual(['lamp us 10 2026-11-26', wanted])
})

test('a row that ends before its volume is refused, and so is one with a cell below no name', async () => {
  await expect(read('keyword,cpc,volume\nlamp,1,10\ndesk,1\n', { country: 'us' })).rejects.toThrow(
    'file.csv:3: the row has 2 cells, not 3: the file may be cut. Export it again',
  )
  await expect(read('keyword,volume,\ndesk,100,,ask Bob\n', { country: 'us' })).rejects.toThrow(
    'file.csv:2: the row has 4 cells, not 3: one of them has the sign that parts cells in its text, or stands below no name. Put quotes around that text, or give its column a name in the header; nothing was stored',
  )
})

test('the country that is named holds for rows without one', async () => {
  const text = 'keyword,volume,country\nchair,1,de\nchair,2,\n'
  expect(shown(await read(text, { country: 'us' }))).toEqual([
    'chair de 1 2026-11-26',
    'chair us 2 2026-11-26',
  ])
})

test.each(['all', 'Worldwide', 'Global', 'ALL COUNTRIES'])('%s are all countries', async (word) => {
  const text = `keyword,volume,country\nchair,1,${word}\nchair,2,us\n`
  expect(shown(await read(text, { country: 'us' }))).toEqual([
    'chair - 1 2026-11-26',
    'chair us 2 2026-11-26',
  ])
})

test.each(['-', '—', 'n/a'])('%s is no country and no mistake: it is an empty cell', async (sign) => {
  const text = `keyword,volume,country\nchair,1,${sign}\ndesk,2,na\n`
  expect(shown(await read(text, { country: 'us' }))).toEqual([
    'chair us 1 2026-11-26',
    'desk na 2 2026-11-26',
  ])
  await expect(read(text)).rejects.toThrow(
    'file.csv:2: the row has no country. Name it: --country us, or --country all; nothing was stored',
  )
})

test('whoever misspells a country is told of all', async () => {
  await expect(read('keyword,volume,country\nchair,1,Earth\n', { country: 'us' })).rejects.toThrow(
    "'Earth' is no country. Write two letters such as us, or all, or leave the cell empty and name it: --country us; nothing was stored",
  )
})

test('a keyword that stands twice with one volume counts once, and of two days the newer one', async () => {
  const text =
    'keyword,volume,date\nchair,10,2026-11-01\nChair,10.0,2026-11-01\ndesk,5,2026-11-02\ndesk,4,2026-10-02\n'
  expect(shown(await read(text, { country: 'us' }))).toEqual([
    'chair us 10 2026-11-01',
    'desk us 5 2026-11-02',
  ])
})

describe('a day that is no day of the past ends in one sentence', () => {
  test.each([
    ['garbage', "file.csv:3: 'garbage' is no date"],
    ['05/01/2020', "file.csv:3: '05/01/2020' is no date"],
    ['9999-12-31', "file.csv:3: '9999-12-31' is no date"],
    ['2026-02-30', "file.csv:3: '2026-02-30' is no date"],
    ['2031-01-01', "file.csv:3: '2031-01-01' is in the future"],
  ])('%s', async (day, sentence) => {
    const text = `keyword,volume,date\ndesk,5,2026-11-26\nchair,1000,${day}\n`
    await expect(read(text, { country: 'us' })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(sentence),
    })
  })

  test.each([
    [
      'garbage',
      "'garbage' is no date. Write days such as 2026-08-01, or name that of the file: --date 2026-08-01",
    ],
    [
      '05/01/2020',
      "'05/01/2020' is no date that can be read in one way only. Write days such as 2026-08-01, or name that of the file: --date 2026-08-01",
    ],
  ])('%s is refused with what to do', async (day, sentence) => {
    await expect(read(`keyword,volume,date\ndesk,5,${day}\n`, { country: 'us' })).rejects.toThrow(
      `file.csv:2: ${sentence}; nothing was stored`,
    )
  })

  test.each(['garbage', '05/01/2020', '1970-01-01'])(
    '%s counts for nothing where the day is named',
    async (day) => {
      const text = `keyword,volume,date\ndesk,5,${day}\nchair,6,2026-11-02\n`
      expect(shown(await read(text, { country: 'us', day: readDay('2026-11-20') }))).toEqual([
        'desk us 5 2026-11-20',
        'chair us 6 2026-11-02',
      ])
    },
  )

  test('an empty one is that of the file', async () => {
    const text = 'keyword,volume,date\ndesk,5,\n'
    expect(shown(await read(text, { country: 'us' }))).toEqual(['desk us 5 2026-11-26'])
  })

  test('in a title', async () => {
    const text = 'Keyword Stats 2031-01-01 at 10_22_33\nkeyword,volume\ndesk,5\n'
    await expect(read(text, { country: 'us' })).rejects.toThrow("'2031-01-01' is in the future")
  })
})

describe('a day may be written otherwise', () => {
  test.each([
    ['11/20/2026', '2026-11-20'],
    ['20/11/2026', '2026-11-20'],
    ['20.11.2026', '2026-11-20'],
    ['2.11.2026', '2026-11-02'],
    ['"Nov 20, 2026"', '2026-11-20'],
    ['20. Nov 2026', '2026-11-20'],
    ['11/11/2026', '2026-11-11'],
    ['2026-11-20T10:00:00Z', '2026-11-20'],
    ['-', '2026-11-26'],
    ['n/a', '2026-11-26'],
  ])('%s', async (written, day) => {
    const text = `keyword,volume,last update\ndesk,5,${written}\n`
    expect(shown(await read(text, { country: 'us' }))).toEqual([`desk us 5 ${day}`])
  })

  test('of day and month, that comes first which does in a row that can be read in one way only', async () => {
    const days = async (...written: readonly string[]) => {
      const rows = written.map((day, place) => `desk ${place},5,${day}\n`).join('')
      const { rows: found } = await read(`keyword,volume,last update\n${rows}`, { country: 'us' })
      return found.map(({ day }) => dayText(day))
    }
    expect(await days('11/05/2026', '10/20/2026')).toEqual(['2026-11-05', '2026-10-20'])
    expect(await days('11/05/2026', '20/10/2026')).toEqual(['2026-05-11', '2026-10-20'])
    await expect(days('11/05/2026', '10/20/2026', '20/10/2026')).rejects.toThrow(
      "'20/10/2026' is no date with the month first, as another row of the file has it. Write days",
    )
    expect(await days('2026-11-05', '10/20/2026')).toEqual(['2026-11-05', '2026-10-20'])
    await expect(days('2026-11-05', '10/02/2026', '10/20/2026')).rejects.toThrow(
      "file.csv:3: '10/02/2026' is no date that can be read in one way only",
    )
    await expect(days('12/05/2026', '10/20/2026')).rejects.toThrow(
      "file.csv:2: '2026-12-05' is in the future",
    )
  })
})

describe('of stored volumes', () => {
  const row = (volume: number | null, more: object) => ({
    query: 'desk',
    country: 'us',
    source: 'Ahrefs',
    volume,
    least: null,
    most: null,
    day: 10,
    file: 'a.csv',
    addedAt: 0,
    ...more,
  })
  test.each([
    ['added twice, one counts', [row(5, {}), row(5, {})], 5],
    ['the newer one of a source takes the place of the older', [row(5, {}), row(6, { day: 11 })], 6],
    ['the older one does not come back', [row(6, { day: 11 }), row(5, {})], 6],
    ['the newest source is used', [row(5, { day: 11 }), row(6, { source: 'Semrush' })], 5],
    ['that of the country, not of all', [row(9, { country: '', day: 99 }), row(5, {})], 5],
    [
      'that of all countries where the country has none',
      [row(9, { country: '' }), row(5, { country: 'de' })],
      9,
    ],
    ['a range is none', [row(null, { least: 10, most: 100 })], null],
    ['other countries are none', [row(5, { country: 'de' })], null],
  ])('%s', async (_, rows, wanted) => {
    await using store = await openStore(':memory:')
    for (const one of rows) await store.addVolumes([one])
    expect(store.addedVolumes().volumeOf(null, 'Desk ', { gl: 'us' })).toBe(wanted)
  })

  test('an addition is undone as a whole, and what it had replaced counts again', async () => {
    await using store = await openStore(':memory:')
    const used = () => store.addedVolumes().volumeOf(null, 'desk', { gl: 'us' })
    const lamp = row(7, { query: 'lamp' })
    expect(await store.addVolumes([row(5, {}), lamp])).toEqual({ id: 1, isNew: true })
    expect(await store.addVolumes([row(6, { day: 11, file: 'b.csv' })])).toEqual({ id: 2, isNew: true })
    expect(await store.addVolumes([row(5, { addedAt: 9 }), lamp])).toEqual({ id: 1, isNew: false })
    expect(used()).toBe(6)
    expect(store.addedVolumes().volumeOf(3, 'desk', { gl: 'us' })).toBe(3)
    const about = { source: 'Ahrefs', addedAt: 0, countries: ['us'] }
    expect(await store.volumeAdditions()).toEqual([
      { ...about, id: 1, file: 'a.csv', rows: 2, volumes: 2, from: 10, until: 10 },
      { ...about, id: 2, file: 'b.csv', rows: 1, volumes: 1, from: 11, until: 11 },
    ])
    await store.undoVolumes(2)
    expect(used()).toBe(5)
    await store.undoVolumes(1)
    expect([used(), await store.volumeAdditions()]).toEqual([null, []])
  })
})

describe('a row of sums', () => {
  const rows = 'keyword,volume\ndesk,90\nlamp,30\n'
  test.each(['Total', 'Summe', 'Grand Total', 'Total: 2', '合計'])(
    '%s is left out, and named',
    async (name) => {
      const { warning, ...found } = await read(`${rows}${name},120\n`, { country: 'us' })
      expect(shown({ warning, ...found })).toEqual(['desk us 90 2026-11-26', 'lamp us 30 2026-11-26'])
      expect(warning).toBe(
        `${join(folder, 'file.csv')}:4: the row '${name.toLowerCase()}' is the sum of the others and was left out.`,
      )
    },
  )

  test('of other numbers is a keyword; one of more than all others is named', async () => {
    const few = await read(`${rows}total,119\n`, { country: 'us' })
    expect([few.rows.length, few.warning]).toEqual([3, null])
    const many = await read(`${rows}total,1000\n`, { country: 'us' })
    expect([many.rows.length, many.warning]).toEqual([
      3,
      expect.stringContaining("the row 'total' has as much as the 2 other rows together"),
    ])
  })
})
