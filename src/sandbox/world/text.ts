import { mix, pick } from './hash.ts'
import type { Candidate, Vertical } from './pool.ts'
import type { Flavour } from './sites.ts'
import type { Topic } from './topic.ts'

// {T} is the heading, {t} the phrase, {y} the year.
const titles: Readonly<Record<Flavour, readonly string[]>> = {
  shop: ['{T} - Free Delivery', 'Buy {T} Online', '{T}: Prices and Offers', 'Shop {T}', '{T} Sale'],
  review: [
    'The Best {T} of {y}, Tested',
    '{T} Review: Worth It?',
    '9 {T} Options Compared',
    '{T}: Our Picks',
  ],
  guide: ['How to Choose {T}', '{T} Explained', 'A Plain Guide to {T}', '{T}: What to Know First'],
  forum: [
    'Which {t} would you choose?',
    'Anyone happy with their {t}?',
    '{t}: advice wanted',
    'Is {t} worth it?',
  ],
  reference: ['{T}', '{T} - Overview', '{T}: Meaning and History'],
  news: [
    '{T}: What Changed This Week',
    'Why {T} Is in the News',
    '{T} Makers Raise Their Forecast',
    'Inside {T}',
  ],
  video: [
    '{T} in 10 Minutes',
    'I Tried {T} for 30 Days',
    '{T}: Full Walkthrough',
    'Stop Buying the Wrong {T}',
  ],
}

const openings = [
  'Everything about {t} in one place',
  'Compare {t} by price, size and rating',
  'We spent 40 hours with {t}',
  'Looking for {t}? Start here',
  'Our readers ask about {t} more than about anything else',
  'A short history of {t} and what to expect in {y}',
]

const endings = [
  'with pictures, prices and honest notes.',
  'and here is what we would do again.',
  'in stock and ready to ship this week.',
  'updated every month by people who use it.',
  'including the mistakes that cost the most.',
  'with answers to the questions asked most.',
]

/** The title of a candidate's page. */
export function titleOf(candidate: Candidate, topic: Topic, vertical: Vertical, year: number): string {
  const { hash, site } = candidate
  const flavour = vertical === 'videos' ? 'video' : vertical === 'news' ? 'news' : site.flavour
  const title = fill(pick(titles[flavour], mix(hash, 31)), topic, year)
  return mix(hash, 32) % 3 === 0 ? title : `${title} | ${site.name}`
}

/** The lines shown below the title of a candidate's page. */
export function snippetOf({ hash }: Candidate, topic: Topic, year: number): string {
  const text = `${pick(openings, mix(hash, 33))}, ${pick(endings, mix(hash, 34))}`
  return fill(text, topic, year)
}

function fill(text: string, topic: Topic, year: number): string {
  // Functions as replacements: a query may hold `$&`, which would be read as a pattern.
  return text
    .replace('{T}', () => topic.heading)
    .replace('{t}', () => topic.phrase)
    .replace('{y}', () => String(year))
}
