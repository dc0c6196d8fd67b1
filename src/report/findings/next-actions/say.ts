import { pathOf, shortLink } from '../../cells.ts'
import type { Words } from '../../words/words.ts'
import { shortName } from '../say.ts'
import type { ActionReason, NextAction } from './action.ts'
import type { NothingToDo } from './nothing.ts'

/**
 * Why something should be done about a keyword: the strongest reason as a sentence, the others in short.
 *
 * @param mark makes a name or an address from outside harmless or sets it apart; unchanged by default
 */
export function reasonsOf(
  { reasons: [first, ...others] }: Pick<NextAction, 'reasons'>,
  { nextActions: say }: Words,
  mark: (name: string) => string = (name) => name,
): string {
  const named = (name: string): string => mark(shortName(name))
  const also = others.map((reason) => inShort(reason, named, say))
  return also.length === 0
    ? sentence(first, named, say)
    : `${sentence(first, named, say)} ${say.also}${also.join('; ')}.`
}

/** Why there is nothing to do, in sentences. */
export function nothingText(nothing: NothingToDo, { nextActions: say }: Words, mark: Named): string {
  const named = (name: string): string => mark(shortName(name))
  switch (nothing.kind) {
    case 'not checked':
      return say.notChecked
    case 'answers':
      return say.noneOfAnswers
    case 'not compared':
      return say.notCompared(nothing.ofClicks)
    case 'nothing stands out':
      return say.none(nothing.ofClicks)
    case 'nothing ranks':
      return say.nothingRanks(
        nothing.keywords.map(({ query, volume, url }) =>
          say.meant(named(query), volume, url === null ? null : named(pathOf(url))),
        ),
      )
  }
}

/** Clicks a month at stake that the sentence does not tell; null if it tells them, or they are not known. */
export function untoldClicks({ reasons: [first], clicks }: NextAction): number | null {
  return first.kind === 'within reach' ? null : clicks
}

type Named = (name: string) => string

function sentence(reason: ActionReason, named: Named, say: Words['nextActions']): string {
  switch (reason.kind) {
    case 'fell out':
      return say.fellOut(reason.top, reason.from, reason.to)
    case 'within reach':
      return say.withinReach(reason.rank, reason.before, reason.clicks)
    case 'other page':
      return say.otherPage(...pagesOf(reason.page, reason.intended, named))
    case 'pages in turn':
      return say.pagesInTurn(...pagesOf(...reason.pages, named), reason.swaps)
    case 'passed':
      return say.passed(named(reason.rival), reason.rank, reason.others)
    case 'not cited':
      return say.notCited(reason.rivals.map(named))
  }
}

/** Two pages as short as they can be told from each other. */
function pagesOf(one: string, other: string, named: Named): [string, string] {
  const write = [pathOf, shortLink].find((short) => short(one) !== short(other)) ?? ((link: string) => link)
  return [named(write(one)), named(write(other))]
}

function inShort(reason: ActionReason, named: Named, say: Words['nextActions']): string {
  switch (reason.kind) {
    case 'fell out':
      return say.shortFellOut(reason.top)
    case 'within reach':
      return say.shortWithinReach
    case 'other page':
      return say.shortOtherPage
    case 'pages in turn':
      return say.shortPagesInTurn
    case 'passed':
      return say.shortPassed(named(reason.rival))
    case 'not cited':
      return say.shortNotCited(reason.rivals.map(named))
  }
}
