import { type AlertChange, type AlertFacts, evaluate, type KnownAlert } from './evaluate.ts'

/*
 * Truth table of `recheck`, with `confirm: 2`. B is the observation before, x one that says what the rule watches, - one that does
 * not; the last one is the run's.
 *
 *   looks    the run       one more look
 *   B x      not told      buys it: B x x begins
 *   B -      not told      says nothing
 *   B x - x  begins        is not needed
 *   (open)   goes on       is not needed
 *
 * With `confirm: 3`, B x x is the first that one more look can confirm.
 */

/** What rules do not tell of a run, and would tell if one more look said the same. */
export function unconfirmed(facts: AlertFacts, open: readonly KnownAlert[]): readonly AlertChange[] {
  const begun = new Set(beginnings(facts, open).map(({ identity }) => identity))
  const twice: AlertFacts = {
    ...facts,
    pairs: facts.pairs.map((pair) => ({ ...pair, looks: [...pair.looks, ...pair.looks.slice(-1)] })),
    serps: facts.serps.map((serp) => ({ ...serp, lists: [...serp.lists, ...serp.lists.slice(-1)] })),
  }
  return beginnings(twice, open).filter(({ identity }) => !begun.has(identity))
}

function beginnings(facts: AlertFacts, open: readonly KnownAlert[]): readonly AlertChange[] {
  return evaluate(facts, open).changes.filter(({ state }) => state === 'open')
}
