import { describe, expect, test } from 'vitest'
import { findings } from '../../../src/report/findings/find.ts'
import { sentenceOf } from '../../../src/report/findings/say.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
import { situations } from './situations.ts'

test('print', () => {
  for (const [title, job] of situations)
    console.log(
      `${title}\n${(['en', 'de'] as const)
        .map((l) =>
          findings(job())
            .map((one) => `   ${sentenceOf(one, wordsOf(l))}`)
            .join('\n'),
        )
        .join('\n   --\n')}`,
    )
})
