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
