import { countryProblem, languageProblem } from '../codes.ts'
import type { Param } from '../operation.ts'

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
  // The service documents two letters. Forms with a region such as pt-BR are allowed, because the service may know them.
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

/** Documented fields of the items in answers, by the operations that send them. */

const web = ['position', 'title', 'link', 'domain', 'source', 'snippet'] as const

export const organicItem = [...web, 'displayed_link', 'snippet_matched'] as const
export const newsItem = [...organicItem, 'date'] as const
export const videoItem = [...organicItem, 'date', 'channel', 'duration', 'video_id'] as const
export const lightItem = ['link', 'title', 'source', 'snippet', 'position'] as const
export const shortItem = ['link', 'title', 'domain', 'snippet', 'position'] as const
export const imageItem = [
  'url',
  'link',
  'title',
  'domain',
  'source',
  'position',
  'image_width',
  'image_height',
] as const
export const gammaImageItem = [...imageItem, 'thumbnail'] as const
export const referenceItem = ['link', 'index', 'title', 'source'] as const
