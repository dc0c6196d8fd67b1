/**
 * Words that may stand before the date of a publication, folded. What was updated, or starts then, was not
 * published then, so that no such word is among them.
 */
const labels: readonly string[] = [
  '(premiered|published|posted|uploaded)( on)?',
  'streamed( live)?( on)?',
  '(veroffentlicht|live ubertragen)( am)?',
  '(publie|mise? en ligne|diffuse en direct)( le)?',
  '(publicado|estrenado|emitido|transmitido|publicat)( en directo| en vivo| ao vivo)?( el| em)?',
  'estreou( em)?',
  '(pubblicato|trasmesso)( il)?',
  'gepubliceerd( op)?',
  'publicera[dt]( den)?',
  '(udgivet|publisert)( den)?',
  'julkaistu',
  'opublikowan[oy]( dnia)?',
  'publikovano( dne)?',
  'опубликовано|дата публикации|дата премьеры',
  'опубликован[ао]|опубліковано|дата публікаціі',
  'δημοσιευτηκε( στις)?',
  'yayinlanma tarihi',
  'diterbitkan( pada)?',
  'đa (đang|cong chieu)( vao)?',
  'เผยแพร่เมื่อ',
  '公開日?|公開日時',
  '发布(于|时间|日期)|發[佈布](於|時間|日期)',
  '게시일|최초 공개',
  'نشر في',
  'פורסם ב',
]

const label = new RegExp(`^(?:${labels.join('|')})(?: ?: ?| |(?=\\d))`, 'u')

/** A folded text without the label that it begins with. */
export function unlabelled(text: string): string {
  return text.replace(label, '')
}
