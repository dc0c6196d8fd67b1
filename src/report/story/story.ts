import { once, withLate } from '../data.ts'
import { historyOfParts, type Part, partsOf } from '../history/filter-history.ts'
import { cards } from './cards.ts'
import {
  countedSum,
  factsOf,
  isByClicks,
  type StoryData,
  type StoryFacts,
  type StoryOptions,
  type StorySentence,
} from './facts.ts'
import { limits, sentencesOf } from './lead.ts'
import { moves } from './moves.ts'
import { nothingToDo, steps } from './steps.ts'

/** Keywords that moved, as lists show them. */
export const shownMoves = 10

/** What every form of a report begins with, of one target. Each part of it is found when it is read. */
export type Story = ReturnType<typeof story>

/** What happened to a target, why, against whom, and what to do next. */
export function story(data: StoryData, options: StoryOptions) {
  const { facts, answers, others, cards, moves } = figuresOf(data, options)
  const sentences = once(() => afterCounted(facts(), sentencesOf(facts(), moves)))
  return withLate(
    {},
    {
      /** What Search Console counted, which the first sentence begins with; empty for nothing. */
      counted: () => countedText(facts()),
      /** The first sentence without that: what a subject says. */
      headline: () => sentences()[0]?.text.slice(countedText(facts()).length) ?? '',
      /** Three at most. */
      sentences,
      /** What the figures do not include. */
      limits: () => limits(facts(), others()),
      /** Four at most. */
      cards,
      /** All keywords that moved, by what is at stake; lists show the first ten. */
      moves,
      /** Five at most. */
      steps: () => steps(facts(), answers(), data.citations),
      /** Why there is nothing to do; told in place of steps. */
      nothing: () => nothingToDo(facts()),
    },
  )
}

/** The figures of a story and what moved, without a sentence: a page finds them itself for whatever its reader selects. */
export function figuresOf(data: StoryData, options: StoryOptions) {
  const parts = partsOf(data.history, data.measure.kind)
  const [part] = parts
  const beside = parts.find(({ kind }) => kind === 'reference')
  const of = (one: typeof part) => {
    const own = one === undefined ? undefined : keywordsIn(data, one)
    const statuses = options.statuses?.filter(({ series }) => own?.has(series.keyword))
    return factsOf(data, { ...options, part: one, statuses })
  }
  const facts = once(() => of(part))
  const answers = once(() => (beside === undefined || beside === part ? undefined : of(beside)))
  return {
    facts,
    answers,
    /** The parts of the job that neither its figures nor its cards are of. */
    others: () =>
      parts
        .slice(1)
        .flatMap((one) =>
          one === beside && isByClicks(facts().metric) ? [] : { part: one, facts: of(one) },
        ),
    cards: once(() => cards(facts(), answers(), data.citations)),
    moves: once(() => moves(facts())),
  }
}

/** The stories of all own targets, of the first target where none is one's own; each with its name where there are several. */
export function storiesOf(data: StoryData, { say, mark }: Required<Pick<StoryOptions, 'say' | 'mark'>>) {
  const { days, targets } = data.history
  if (days.length === 0) return []
  const own = targets.flatMap((target, place) => (target.own ? [place] : []))
  const told = new Set<number>()
  return (own.length === 0 ? [0] : own).map((target) => {
    const one = story(data, { target, say, mark, told })
    // In their order, so that the first story tells of a site and the others of another one.
    void one.sentences
    return Object.assign(one, { label: own.length > 1 ? mark(targets[target]?.label ?? '') : null })
  })
}

function keywordsIn({ history }: StoryData, part: Part): ReadonlySet<number> {
  return new Set(historyOfParts(history, [part]).series.map(({ keyword }) => keyword))
}

/** What Search Console counted of the keywords of an own target, before what is estimated; empty where that does not cover the period. */
function countedText({ own, history: { countedClicks }, of, say }: StoryFacts): string {
  const sum = of === null ? countedSum(own, countedClicks) : null
  return sum === null ? '' : `${say.story.counted(sum)} `
}

/** The first sentence begins with what Search Console counted, where that covers the period. */
function afterCounted(
  facts: StoryFacts,
  [first, ...others]: readonly StorySentence[],
): readonly StorySentence[] {
  return first === undefined ? [] : [{ ...first, text: `${countedText(facts)}${first.text}` }, ...others]
}
