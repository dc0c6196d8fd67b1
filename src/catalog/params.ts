import { countryProblem, languageProblem } from './codes.ts'
import type { Param } from './param.ts'

/** Parameters that several operations share, declared once. */

export const gl: Param = {
  type: 'string',
  meaning: 'country, two letters',
  pattern: { regexp: /^[a-z]{2}$/i, words: 'a two-letter country code such as us' },
  unknownCode: countryProblem,
}

export const hl: Param = {
  type: 'string',
  meaning: 'language, two letters',
  // The interface says two letters; region forms such as pt-BR are let through, for the service knows them better.
  pattern: { regexp: /^[a-z]{2,3}(-[a-z0-9]{2,4})?$/i, words: 'a two-letter language code such as en' },
  unknownCode: languageProblem,
}

export const location: Param = {
  type: 'string',
  meaning: 'origin as a place name at city level; not with uule',
}

export const uule: Param = { type: 'string', meaning: 'encoded location; not with location' }

export const num: Param = {
  type: 'integer',
  meaning: 'results per page',
  default: 10,
  min: 1,
}
