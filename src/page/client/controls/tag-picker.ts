import type { PageData } from '../../../report/data.ts'
import type { Keyword } from '../../../report/history/rank-history.ts'
import { isInView, savedView } from '../../../report/presentation/presentation.ts'
import { ariaHidden, button, html } from '../dom.ts'
import { type Filters, noFilters } from '../filters.ts'
import { say, tagName } from '../text.ts'

/** Tags from which on the list can be searched. */
const searchable = 9

export interface TagPicker {
  readonly element: HTMLElement
  /** The chosen tags with a button that removes each, if the field cannot name them all. */
  readonly chips: HTMLElement
  /** Whether there is anything to choose. */
  readonly useful: boolean
  show(filters: Filters): void
}

/** The choice of tags: a button that opens a list of checkboxes. An empty tag stands for keywords without tags. */
export function tagPicker(data: PageData, choose: (change: Partial<Filters>) => void): TagPicker {
  const words = say.filters
  const all = tagCounts(data.history.keywords)
  const isSearchable = all.size >= searchable
  let entries = entriesOf(all)
  let [chosen, shown]: [readonly string[], string] = [[], noFilters.view]
  const value = html('span', 'picked')
  const opener = button(
    'picker',
    () => setOpen(opener.getAttribute('aria-expanded') === 'false'),
    {
      id: 'choose-tag',
      'aria-expanded': 'false',
      'aria-controls': 'tag-list',
      'aria-labelledby': 'tag-label choose-tag',
    },
    value,
  )
  const nothing = html('p', { class: 'nothing', role: 'status' })
  const search = html('input', {
    type: 'search',
    'aria-label': words.searchTags,
    placeholder: words.searchTags,
    autocomplete: 'off',
    spellcheck: 'false',
    on: { input: narrow },
  })
  const list = html('ul', '', ...entries.map(({ item }) => item))
  const clear = button('tool', () => choose({ tags: [] }), {}, words.allTags)
  const panel = html(
    'div',
    { class: 'picker-panel', id: 'tag-list', role: 'group', 'aria-label': words.tag, hidden: true },
    isSearchable ? search : null,
    list,
    nothing,
    clear,
  )
  const element = html(
    'div',
    { class: 'field choose-tag', on: { keydown: steer, focusout: leave } },
    html('span', { class: 'label', id: 'tag-label' }, words.tag),
    opener,
    panel,
  )
  const chips = html('div', { class: 'chips', role: 'group', 'aria-label': words.chosenTags })
  list.addEventListener('change', () =>
    choose({ tags: entries.filter(({ box }) => box.checked).map(({ tag }) => tag) }),
  )
  document.addEventListener('pointerdown', ({ target }) => {
    if (!panel.hidden && !element.contains(target as Node)) setOpen(false)
  })
  return { element, chips, useful: all.size > 1, show }

  function show({ view, tags }: Filters): void {
    chosen = tags
    if (view !== shown) {
      const inView = data.history.keywords.filter((keyword, place) =>
        isInView(keyword, place, savedView(data, view)),
      )
      entries = entriesOf(tagCounts(inView))
      list.replaceChildren(...entries.map(({ item }) => item))
      shown = view
    }
    for (const { tag, box } of entries) box.checked = tags.includes(tag)
    const [only] = tags
    value.textContent =
      only === undefined ? words.all : tags.length === 1 ? tagName(only) : words.tags(tags.length)
    element.classList.toggle('set', tags.length > 0)
    clear.disabled = tags.length === 0
    const several = tags.length > 1 ? tags : []
    chips.replaceChildren(...several.map(chip))
  }

  function chip(tag: string): HTMLElement {
    const name = tagName(tag)
    const remove = (): void => {
      choose({ tags: chosen.filter((one) => one !== tag) })
      const next = chips.querySelector<HTMLElement>('button') ?? opener
      next.focus()
    }
    return button(
      'chip',
      remove,
      { 'aria-label': words.removeTag(name) },
      html('bdi', '', name),
      ariaHidden('×'),
    )
  }

  function setOpen(isOpen: boolean): void {
    panel.hidden = !isOpen
    opener.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen) return
    search.value = ''
    narrow()
    const first = isSearchable ? search : (entries.find(({ box }) => box.checked) ?? entries[0])?.box
    first?.focus({ preventScroll: true })
  }

  /** Only the tags that contain what is typed. */
  function narrow(): void {
    const wanted = search.value.trim().toLowerCase()
    for (const { item, name } of entries) item.hidden = !name.toLowerCase().includes(wanted)
    nothing.textContent = entries.every(({ item }) => item.hidden) ? words.noTag : ''
  }

  function steer(event: KeyboardEvent): void {
    if (panel.hidden) return
    if (event.key === 'Escape') {
      setOpen(false)
      opener.focus()
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const seen = entries.filter(({ item }) => !item.hidden).map(({ box }) => box)
    const at = seen.indexOf(document.activeElement as HTMLInputElement)
    const next = seen[at === -1 ? (step === 1 ? 0 : seen.length - 1) : at + step]
    const back = isSearchable ? search : opener
    ;(next ?? back).focus()
  }

  function leave({ relatedTarget }: FocusEvent): void {
    if (relatedTarget instanceof Node && !element.contains(relatedTarget)) setOpen(false)
  }
}

/** Keywords with each tag, in the order of the tags; those without a tag last. */
function tagCounts(keywords: readonly Keyword[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { tags } of keywords)
    for (const tag of tags.length === 0 ? [''] : new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const collator = new Intl.Collator(say.language, { numeric: true })
  return new Map(
    [...counts].sort(([a], [b]) => Number(a === '') - Number(b === '') || collator.compare(a, b)),
  )
}

interface TagEntry {
  readonly tag: string
  readonly name: string
  readonly item: HTMLElement
  readonly box: HTMLInputElement
}

function entriesOf(counts: ReadonlyMap<string, number>): readonly TagEntry[] {
  return Array.from(counts, ([tag, count]) => entryOf(tag, count))
}

function entryOf(tag: string, count: number): TagEntry {
  const name = tagName(tag)
  const box = html('input', { type: 'checkbox', value: tag })
  const label = html('label', '', box, html('bdi', '', name), html('span', 'count', say.number(count)))
  return { tag, name, box, item: html('li', '', label) }
}
