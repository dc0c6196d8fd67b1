import { mix, unit } from './hash.ts'
import { capital, type Site, type Topic } from './sites.ts'

const further = (
  'near me|price|review|for beginners|vs alternatives|cheap|ideas|used|meaning|' +
  'online|for small rooms|for sale|pros and cons|size guide'
).split('|')

/** Other searches on the topic; undefined for queries without any. */
export function relatedSearches(topic: Topic, hash: number): readonly object[] | undefined {
  if (mix(hash, 61) % 6 === 0) return undefined
  return shuffled(further, mix(hash, 62))
    .slice(0, 8)
    .map((more) => ({ query: `${topic.phrase} ${more}` }))
}

/** Suggestions: texts that begin with the query. */
export function suggestions(text: string, hash: number): readonly string[] {
  const begun = text.trimStart()
  return shuffled(further, mix(hash, 63))
    .slice(0, 8 + (hash % 3))
    .map((more) => `${begun}${begun.endsWith(' ') ? '' : ' '}${more}`)
}

/** The panel on the topic; undefined for queries without one. */
export function knowledgeGraph(topic: Topic, hash: number): object | undefined {
  if (mix(hash, 64) % 4 !== 0) return undefined
  const link = `https://en.openalmanac.org/wiki/${topic.slug}`
  return {
    type: 'Topic',
    title: topic.heading,
    website: `https://www.${mix(hash, 65).toString(36)}.org/`,
    attributes: { Category: capital(topic.words.at(-1) ?? ''), Since: String(1890 + (hash % 120)) },
    description: `${topic.heading} is a subject of general interest with a long history.`,
    description_link: link,
    description_source: 'Openalmanac',
  }
}

/** Totals of the search; undefined for some queries. Rarely the total is missing, or results were removed. */
export function searchInformation(found: number, hash: number): object | undefined {
  const chance = mix(hash, 66)
  if (chance % 17 === 0) return undefined
  const information = {
    total_results: chance % 23 === 0 ? null : found === 0 ? 0 : found * (1000 + (chance % 900_000)),
    time_taken_displayed: Math.round(20 + 60 * unit(mix(hash, 67))) / 100,
  }
  return chance % 19 === 0 ? { ...information, error: 'Some results may have been removed' } : information
}

/** The AI answer as blocks, and as Markdown that cites the references. */
export function aiText(topic: Topic, references: readonly { readonly link: string; readonly site: Site }[]) {
  const cite = (index: number) => {
    const reference = references[index % Math.max(references.length, 1)]
    return reference === undefined ? '' : ` ([${reference.site.name}](${reference.link}))`
  }
  const opening = `${topic.heading} depends on what you need it for; most people start with price and size.`
  const heading = 'What to look at'
  const list = [
    `Check that ${topic.phrase} fits the space you have.`,
    'Compare the total cost, not the price alone.',
    'Read what owners say after a year.',
  ]
  const closing = `In short, choose ${topic.phrase} by use, then by price.`
  return {
    text_blocks: [
      { type: 'paragraph', snippet: opening },
      { type: 'heading', snippet: heading },
      { type: 'list', list: list.map((snippet) => ({ snippet })) },
      { type: 'paragraph', snippet: closing },
    ],
    reconstructed_markdown: [
      `${opening}${cite(0)}`,
      `## ${heading}`,
      list.map((line, index) => `- ${line}${cite(index + 1)}`).join('\n'),
      closing,
    ].join('\n\n'),
  }
}

function shuffled(list: readonly string[], hash: number): readonly string[] {
  return list
    .map((text, index) => ({ text, key: mix(hash, index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ text }) => text)
}
