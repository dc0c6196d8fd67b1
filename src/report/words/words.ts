import type { Language } from '../../model/settings.ts'
import { german } from './de/index.ts'
import { english, type Words } from './en/index.ts'

export type { Words }

const byLanguage: Readonly<Record<Language, Words>> = { en: english, de: german }

export function wordsOf(language: Language): Words {
  return byLanguage[language]
}
