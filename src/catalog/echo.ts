import type { AnswerFacts, EchoMismatch } from '../model/result.ts'
import type { Task } from '../model/task.ts'
import { asFields, integer } from './normalise/fields.ts'
import type { BillableOperation } from './operation.ts'

/** What was asked, as far as an answer may repeat it. */
export type AskedPage = Pick<Task, 'text' | 'params' | 'page'>

type Difference = EchoMismatch[string]

/** What an answer repeats otherwise than it was asked; null where nothing differs. What it does not repeat is no difference. */
export function echoMismatch(
  operation: BillableOperation,
  asked: AskedPage,
  { searchParameters, currentPage }: Pick<AnswerFacts, 'searchParameters' | 'currentPage'>,
): EchoMismatch | null {
  const echo = asFields(searchParameters) ?? {}
  const number = integer(echo.num)
  const pages = pagesMeant(operation, asked, number)
  const found = {
    q: textDifference(asked.text, echo.q, sameText),
    gl: textDifference(asked.params.gl, echo.gl, sameCode),
    cc: textDifference(asked.params.cc, echo.cc, sameCode),
    hl: textDifference(asked.params.hl, echo.hl, sameLanguage),
    num: numDifference(operation, asked, number),
    page: pageDifference(asked.page, integer(echo.page), pages),
    'pagination.current': pageDifference(asked.page, currentPage, pages),
  }
  const differences = Object.entries(found).filter((one): one is [string, Difference] => one[1] !== null)
  return differences.length === 0 ? null : Object.fromEntries(differences)
}

/** A default that was not asked for is no difference, nor is what does not come as text. */
function textDifference(
  asked: string | number | undefined,
  answered: unknown,
  same: (asked: string, answered: string) => boolean,
): Difference | null {
  if (asked === undefined || typeof answered !== 'string') return null
  return same(String(asked), answered) ? null : { asked, answered }
}

function sameText(asked: string, answered: string): boolean {
  return folded(asked) === folded(answered)
}

/** One form of composed letters, no case, single spaces. */
function folded(text: string): string {
  const caseless = text.toWellFormed().normalize('NFC').toUpperCase().toLowerCase()
  return caseless.normalize('NFC').replace(/\s+/g, ' ').trim()
}

function sameCode(asked: string, answered: string): boolean {
  return code(asked) === code(answered)
}

/** `en` and `en-US` do not contradict each other; `pt-BR` and `pt-PT` do. */
function sameLanguage(asked: string, answered: string): boolean {
  const [one, other] = [code(asked), code(answered)]
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)
}

function code(text: string): string {
  return text.trim().toLowerCase().replaceAll('_', '-')
}

/** A service may give fewer results than asked, never more; where it is only a suggestion, any number is right. */
function numDifference(
  { params }: BillableOperation,
  { params: { num } }: AskedPage,
  answered: number | null,
): Difference | null {
  if (typeof num !== 'number' || answered === null || params.num?.suggestion === true) return null
  return answered > num ? { asked: num, answered } : null
}

function pageDifference(
  asked: number,
  answered: number | null,
  meant: ReadonlySet<number> | null,
): Difference | null {
  return meant === null || answered === null || meant.has(answered) ? null : { asked, answered }
}

/**
 * The numbers that may stand for the page that was asked: its own, the one before where an engine counts from 0, and where
 * an older style counts results, how many are before it, or the page that they come to in shorter pages. Null where there
 * are no pages.
 */
function pagesMeant(
  { paging, styles }: BillableOperation,
  { page, params }: AskedPage,
  answeredNum: number | null,
): ReadonlySet<number> | null {
  if (paging === null) return null
  const meant = new Set([page])
  if (paging.echoFromZero === true) meant.add(page - 1)
  if (styles.includes('post')) {
    const usual = paging.pageSize ?? 10
    const before = (page - 1) * (typeof params.num === 'number' ? params.num : usual)
    meant.add(before)
    for (const size of [usual, answeredNum])
      if (size !== null && size > 0) meant.add(Math.floor(before / size) + 1)
  }
  return meant
}
