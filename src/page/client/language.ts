import type { Language } from '../../model/settings/presentation.ts'
import { type Words, wordsOf } from '../../report/words/words.ts'

/** The words of the page. They are chosen once, before anything is drawn. */
export let say: Words = wordsOf('en')

export function speak(language: Language): void {
  say = wordsOf(language)
  document.documentElement.lang = language
}
