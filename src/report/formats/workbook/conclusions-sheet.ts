import type { Sheet } from '../../../output/xlsx.ts'
import type { Conclusions } from '../../findings/conclusions.ts'
import type { NextAction } from '../../findings/next-actions/action.ts'
import { reasonsOf } from '../../findings/next-actions/say.ts'
import { sentenceOf } from '../../findings/say.ts'
import { wordsOf } from '../../words/words.ts'
import { field, keywordFields, sheet } from './sheet.ts'

interface Sentence {
  readonly target: string
  readonly sentence: string
}

/** How things stand, in sentences. */
export function findingsSheet(all: readonly Conclusions[]): Sheet {
  const say = wordsOf('en')
  const sentences = all.flatMap(({ target, findings }) =>
    findings.map((one): Sentence => ({ target: target?.label ?? '', sentence: sentenceOf(one, say) })),
  )
  return sheet<Sentence>(
    'In short',
    [
      field('target', 'text', ({ target }) => target),
      field('sentence', 'text', ({ sentence }) => sentence, 100),
    ],
    sentences,
  )
}

interface ActionLine {
  readonly target: string
  readonly action: NextAction
}

/** What to do next, the most clicks at stake first. */
export function nextActionsSheet(all: readonly Conclusions[]): Sheet {
  const say = wordsOf('en')
  const rows = all.flatMap(({ target, actions }) =>
    actions.map((action): ActionLine => ({ target: target?.label ?? '', action })),
  )
  return sheet<ActionLine>(
    'What to do next',
    [
      field('target', 'text', ({ target }) => target),
      ...keywordFields<ActionLine>(({ action }) => action.status.keyword),
      field('reason', 'text', ({ action }) => reasonsOf(action, say), 80),
      field('clicks a month', 'decimal', ({ action }) => action.clicks),
      field('rank', 'number', ({ action }) => action.status.current.rank),
      field('volume', 'number', ({ action }) => action.status.keyword.volume),
      field('page', 'text', ({ action }) => action.page, 50),
    ],
    rows,
  )
}
