import type { AlertMessage, AlertNews } from '../../model/settings.ts'
import { count, shellWord } from '../../model/text.ts'
import type { DigestMessage, MessageContent, ReportMessage } from '../../store/sqlite/unattended/schema.ts'

/** A message as people read it; every text is one line. Queries, titles and addresses in it are of strangers. */
export interface Letter {
  /** Where there is room for one line: the subject of a mail, a notification. */
  readonly subject: string
  readonly title: string
  readonly sections: readonly { readonly heading: string | null; readonly lines: readonly string[] }[]
}

/** Longer texts are cut. */
const longestLine = 400
const longestTitle = 120

function letterOf(content: MessageContent): Letter {
  const { subject, title, sections } = written(content)
  return {
    subject: cut(oneLine(subject), longestTitle),
    title: cut(oneLine(title), longestTitle),
    sections: sections.map(({ heading, lines }) => ({
      heading: heading === null ? null : cut(oneLine(heading), longestTitle),
      lines: lines.map((line) => cut(oneLine(line), longestLine)),
    })),
  }
}

function written(content: MessageContent): Letter {
  switch (content.kind) {
    case 'alerts':
      return ofAlerts(content.message)
    case 'digest':
      return ofDigest(content.message)
    case 'report':
      return ofReport(content.message)
  }
}

/** What stops several jobs, or does no longer: in one sentence, with their names below. */
function ofCause({ text, state }: AlertNews, jobs: readonly string[]): Letter {
  const [what = ''] = text.split(/\. (?=Not run: |Stopped: |At work again: )/)
  const names = jobs.length === 1 ? (jobs[0] ?? '') : count(jobs.length, 'job')
  const title = `${names}${state === 'over' ? ', over' : ''}: ${what}`
  const sections = [{ heading: null, lines: [what] }]
  return {
    subject: title,
    title,
    sections: jobs.length === 1 ? sections : [...sections, { heading: 'Jobs', lines: jobs }],
  }
}

function ofAlerts({ job, client, alerts }: AlertMessage): Letter {
  const [cause] = alerts
  if (cause?.jobs !== undefined) return ofCause(cause, cause.jobs)
  const open = alerts.filter(({ state }) => state === 'open')
  const over = alerts.filter(({ state }) => state === 'over')
  const counts = [
    ...(open.length === 0 ? [] : [count(open.length, 'alert')]),
    ...(over.length === 0 ? [] : [`${over.length} over`]),
  ]
  const title = `${job}${client == null ? '' : ` (${client})`}: ${counts.join(', ')}`
  const [first] = alerts
  const isOfRanks = alerts.some(({ query, when }) => query !== null || when === 'suspect')
  const sections = [
    { heading: null, lines: isOfRanks ? [`Report: rankline report ${shellWord(job)}`] : [] },
    { heading: over.length === 0 ? null : 'New', lines: open.map(alertLine) },
    { heading: 'Over', lines: over.map(alertLine) },
  ]
  return {
    // One alert is told at once.
    subject: first === undefined || alerts.length > 1 ? title : `${title}: ${first.text}`,
    title,
    sections: sections.filter(({ lines }) => lines.length > 0),
  }
}

/** Longer addresses would leave no room for what follows them. */
const longestUrl = 120

/** What happened, where, of how many searches, who stands there now, and how to hear no more of it. */
function alertLine({ id, state, text, locale, url, volume, there_now }: AlertNews): string {
  const about = [
    text,
    locale,
    url == null ? null : cut(url, longestUrl),
    volume == null ? null : `${count(volume, 'search', 'searches')} a month`,
    there_now == null ? null : `${there_now} is there now`,
  ].filter((part) => part != null)
  const mute = state === 'over' ? '' : ` · mute: rankline alerts mute ${id} --until 7d`
  return `${cut(oneLine(about.join(' · ')), longestLine - mute.length)}${mute}`
}

function ofDigest({ job, date, comparedWith, sections }: DigestMessage): Letter {
  const against = comparedWith === null ? '' : `, compared with ${comparedWith}`
  const heading = date === null ? `${job}: the week` : `${job}: the week until ${date}${against}`
  return {
    subject: heading,
    title: heading,
    sections: sections.map((section) => ({
      heading: section.title,
      lines: [
        ...(section.sentences ?? []),
        ...section.lines.map(
          ({ label, value, change }) => `${label}: ${value}${change === null ? '' : ` (${change})`}`,
        ),
      ],
    })),
  }
}

/** A report that was meant for a mailbox, where the channel has become another one since. */
function ofReport({ subject, text }: ReportMessage): Letter {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return { subject, title: subject, sections: [{ heading: null, lines }] }
}

/** Line breaks, control characters, and signs that turn the direction of writing become spaces. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .trim()
}

/** A text of at most this many characters, the last one `…` where some are missing. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, most - 1)
  // Half of a pair is no character.
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}

/** Phones show less, and no mailbox much more. */
const longestSubject = 78

/** The subject of a mail, which begins with what matters most: a longer one ends after a word. */
function subjectOf(text: string): string {
  const line = oneLine(text)
  if (line.length <= longestSubject) return line
  const end = line.lastIndexOf(' ', longestSubject - 1)
  return end < longestSubject / 2 ? cut(line, longestSubject) : `${line.slice(0, end)}…`
}

/** A line of a letter, as a channel writes it. */
export interface LetterPart {
  readonly is: 'title' | 'heading' | 'line' | 'more'
  readonly text: string
}

/**
 * The parts of a letter in order, as many as there is room for; what is left out is counted in a last one.
 *
 * @param sizeOf what a part takes of the room, as it will be written
 */
function fitParts(letter: Letter, room: number, sizeOf: (part: LetterPart) => number): readonly LetterPart[] {
  const parts = partsOf(letter)
  let used = 0
  const ends = parts.map((part) => (used += sizeOf(part)))
  if (used <= room) return parts
  const more = (from: number): LetterPart => ({
    is: 'more',
    text: `and ${count(parts.slice(from).filter(({ is }) => is === 'line').length, 'more line')}`,
  })
  let kept = parts.length - 1
  while (kept > 0 && (ends[kept - 1] as number) + sizeOf(more(kept)) > room) kept--
  // A heading without lines says nothing.
  while (kept > 0 && parts[kept - 1]?.is === 'heading') kept--
  return [...parts.slice(0, kept), more(kept)]
}

function partsOf({ title, sections }: Letter): readonly LetterPart[] {
  return [
    { is: 'title', text: title },
    ...sections.flatMap(({ heading, lines }): readonly LetterPart[] => [
      ...(heading === null ? [] : [{ is: 'heading' as const, text: heading }]),
      ...lines.map((text) => ({ is: 'line' as const, text })),
    ]),
  ]
}

/** Messages as people read them. */
export const letters = {
  of: letterOf,
  fit: fitParts,
  cut,
  oneLine,
  subject: subjectOf,
}
