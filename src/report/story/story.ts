import { once } from '../data.ts'
import { historyOfParts } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { Words } from '../words/words.ts'
import { cards, type StoryCard } from './cards.ts'
import {
  checkedOf,
  factsOf,
  leastKeywords,
  partsOfData,
  type StoryData,
  type StoryFacts,
  type StorySentence,
} from './facts.ts'
import {
  countedText,
  fewKeywords,
  lead,
  leadMetricOf,
  limits,
  situation,
  standing,
  warnings,
} from './lead.ts'
import { moves, type StoryMove, why } from './moves.ts'
import { holder, rivalSentence, standSentences, tagSentence } from './rivals.ts'
import { nothingToDo, type StoryStep, steps } from './steps.ts'

/** What every form of a report begins with, of one target. Each part of it is found when it is read. */
export interface Story {
  /** The first sentence without what was counted: what a subject says. */
  readonly headline: string
  /** Three at most. */
  readonly sentences: readonly StorySentence[]
  /** What the figures do not include. */
  readonly limits: readonly string[]
  /** Four at most. */
  readonly cards: readonly StoryCard[]
  /** All keywords that moved, by what is at stake; lists show the first ten. */
  readonly moves: readonly StoryMove[]
  /** Five at most. */
  readonly steps: readonly StoryStep[]
  /** Why there is nothing to do; told in place of steps. */
  readonly nothing: string
}

export interface StoryOptions {
  /** Place of the target in the history; the first own one by default. */
  readonly target?: number | undefined
  readonly say: Words
  /** Makes a name from outside, such as a query, harmless or sets it apart; unchanged by default. */
  readonly mark?: (name: string) => string
  /** The statuses of every target of the whole history, where they are known already. */
  readonly statuses?: readonly KeywordStatus[] | undefined
  /** Sites that stories beside it tell of; those of this one are added. */
  readonly told?: Set<number> | undefined
}

const most = 3
/** Keywords that moved, as lists show them. */
export const shownMoves = 10

/** What happened to a target, why, against whom, and what to do next. */
export function story(data: StoryData, options: StoryOptions): Story {
  const { facts, answers, cards, moves } = figuresOf(data, options)
  const sentences = once(() => afterCounted(facts(), sentencesOf(facts(), moves)))
  const found = {
    limits: once(() => limits(facts())),
    steps: once(() => steps(facts(), answers(), data.citations)),
  }
  return {
    get headline() {
      return sentences()[0]?.text.slice(countedText(facts()).length) ?? ''
    },
    get sentences() {
      return sentences()
    },
    get limits() {
      return found.limits()
    },
    get cards() {
      return cards()
    },
    get moves() {
      return moves()
    },
    get steps() {
      return found.steps()
    },
    get nothing() {
      return nothingToDo(facts())
    },
  }
}

/** The figures of a story and what moved, without a sentence: a page finds them itself for whatever its reader selects. */
export function figuresOf(
  data: StoryData,
  { target = firstOwn(data), say, mark = (name) => name, statuses, told }: StoryOptions,
) {
  const parts = partsOfData(data)
  const [part] = parts
  const beside = parts.find(({ kind }) => kind === 'reference')
  const of = (one: typeof part) => {
    const own = one === undefined ? undefined : keywordsIn(data, one)
    return factsOf(data, {
      target,
      say,
      mark,
      part: one,
      told,
      statuses: statuses?.filter(({ series }) => own?.has(series.keyword)),
    })
  }
  const facts = once(() => of(part))
  const ofAnswers = once(() => ({ facts: beside === undefined || beside === part ? undefined : of(beside) }))
  const answers = (): StoryFacts | undefined => ofAnswers().facts
  return {
    facts,
    answers,
    cards: once(() => cards(facts(), answers(), data.citations)),
    moves: once(() => moves(facts())),
  }
}

/** The stories of all own targets, of the first target where none is one's own; each with its name where there are several. */
export function storiesOf(
  data: StoryData,
  { say, mark }: Required<Pick<StoryOptions, 'say' | 'mark'>>,
): readonly (Story & { readonly label: string | null })[] {
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

function firstOwn({ history: { targets } }: StoryData): number {
  return Math.max(
    0,
    targets.findIndex(({ own }) => own),
  )
}

function keywordsIn(
  { history }: StoryData,
  part: ReturnType<typeof partsOfData>[number],
): ReadonlySet<number> {
  return new Set(historyOfParts(history, [part]).series.map(({ keyword }) => keyword))
}

/** What is at stake, why it changed, against whom; then what stands, where there is less to say. */
function sentencesOf(facts: StoryFacts, moved: () => readonly StoryMove[]): readonly StorySentence[] {
  const first = warnings(facts)
  const { own, metric } = facts
  const isFew = own.length > 0 && own.length < leastKeywords && metric !== 'cited'
  const instead = isFew ? fewKeywords(facts, most - first.length) : situation(facts)
  if (instead !== null) {
    const isNone = !isFew && own.length > 0 && checkedOf(own).observed > 0 && checkedOf(own).ranked === 0
    const rest = isNone ? against(facts) : []
    return [...first, ...instead, ...rest].slice(0, most)
  }
  const all = [...first, lead(facts), ...why(facts, moved()), ...rivalSentence(facts)]
  if (all.length < most) all.push(...tagSentence(facts))
  if (all.length < most)
    all.push(
      ...standSentences(
        facts,
        all.some(({ opens }) => opens.to === 'rivals') ||
          (standing(facts, leadMetricOf(facts))?.now ?? 1) > 1,
      ),
    )
  return all.slice(0, most)
}

/** The first sentence begins with what Search Console counted, where that covers the period. */
function afterCounted(
  facts: StoryFacts,
  [first, ...others]: readonly StorySentence[],
): readonly StorySentence[] {
  return first === undefined ? [] : [{ ...first, text: `${countedText(facts)}${first.text}` }, ...others]
}

/** The rival that changed most, or who has the places. */
function against(facts: StoryFacts): readonly StorySentence[] {
  const moved = rivalSentence(facts)
  if (moved.length > 0) return moved
  const leading = standSentences(facts, false).filter(({ opens }) => opens.to === 'rivals')
  return leading.length > 0 ? leading : holder(facts)
}
