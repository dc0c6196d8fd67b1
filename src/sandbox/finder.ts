import { countryCodes } from '../catalog/codes.ts'
import { languageCodes } from './places.ts'

interface Place {
  readonly code: string
  readonly name: string
}

const countries = named('region', countryCodes)
const languages = named('language', languageCodes)

/** Countries whose English name contains the text, whatever its case; largest reach first. */
export function findCountries(text: string): readonly object[] {
  return matching(countries, text).map(({ code, name }) => ({
    country_code: code.toLowerCase(),
    country_name: name,
  }))
}

/** Languages whose English name contains the text, whatever its case; largest reach first. */
export function findLanguages(text: string): readonly object[] {
  return matching(languages, text).map(({ code, name }) => ({ language_code: code, language_name: name }))
}

function matching(places: readonly Place[], text: string): readonly Place[] {
  const part = text.toLowerCase()
  return places.filter(({ name }) => name.toLowerCase().includes(part))
}

function named(type: 'region' | 'language', codes: readonly string[]): readonly Place[] {
  const names = new Intl.DisplayNames('en', { type })
  return codes.map((code) => ({ code, name: names.of(code) ?? code }))
}
