import type { Keyword } from '../../src/report/history/rank-history.ts'

/** Sites that others' results are on. */
export const pool = [
  'deskreview.example',
  'ergolab.example',
  'officeworld.example',
  'wirecutting.example',
  'homesteadworks.example',
  'standup.example',
  'upliftmart.example',
  'woodline.example',
  'video.example',
  'forum.example',
  'encyclopedia.example',
  'postureclinic.example',
  'cableking.example',
  'bargainbay.example',
  'newsroom.example',
]

const kinds = [
  'standing desk',
  'sit stand desk',
  'desk converter',
  'desk frame',
  'ergonomic chair',
  'anti fatigue mat',
]
const words = [
  '',
  'best',
  'cheap',
  'buy',
  'electric',
  'small',
  'corner',
  'walnut',
  'oak',
  'white',
  'dual motor',
  'l shaped',
]
const ends = ['', 'for home', 'under 500', 'reviews', 'with drawers', 'austin', 'for tall people']
const locales = [
  { gl: 'us', hl: 'en' },
  { gl: 'us', hl: 'en' },
  { gl: 'gb', hl: 'en' },
  { gl: 'us', hl: 'en', location: 'Austin, Texas, United States' },
]

/** So many keywords with all that a job may say of them. */
export function sampleKeywords(wanted: number, random: () => number): readonly Keyword[] {
  const made = Array.from({ length: wanted }, (_, index): Keyword => {
    const kind = kinds[index % kinds.length] as string
    const word = words[Math.floor(index / kinds.length) % words.length] as string
    const end = ends[Math.floor(index / (kinds.length * words.length)) % ends.length] as string
    const round = Math.floor(index / (kinds.length * words.length * ends.length))
    const query = [word, kind, end, round === 0 ? '' : String(round + 1)]
      .filter((part) => part !== '')
      .join(' ')
    const operation = index % 12 === 5 ? 'alpha.ai' : index % 12 === 9 ? 'alpha.news' : 'alpha.search'
    return {
      query,
      operation,
      kind: operation === 'alpha.news' ? 'news' : operation === 'alpha.ai' ? 'reference' : 'organic',
      params: locales[index % locales.length] as Keyword['params'],
      tags: [
        ...(word === 'buy' || word === 'cheap' ? ['money'] : []),
        kind.includes('desk') ? 'desks' : 'accessories',
      ],
      volume: random() < 0.12 ? null : Math.round(10 ** (1.5 + random() * 2.4) / 10) * 10,
      url: random() < 0.3 ? `https://www.northdesk.example/${query.replace(/\s+/g, '-')}` : null,
      labels: { owner: index % 2 === 0 ? 'Ada' : 'Grace' },
    }
  })
  return made.sort((a, b) =>
    a.query < b.query ? -1 : a.query > b.query ? 1 : a.operation < b.operation ? -1 : 1,
  )
}
