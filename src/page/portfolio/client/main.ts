/** The portfolio is complete without a script; this sorts its table and finds clients. */

const table = document.querySelector('table')
for (const head of table?.querySelectorAll<HTMLElement>('th[data-first]') ?? []) makeSortable(head)

/** The title of a column becomes a button. */
function makeSortable(head: HTMLElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.append(...head.childNodes)
  button.title = head.dataset.title ?? ''
  button.addEventListener('click', () => {
    const first = head.dataset.first === 'descending' ? 'descending' : 'ascending'
    const other = first === 'ascending' ? 'descending' : 'ascending'
    sortBy(head, head.ariaSort === first ? other : first)
  })
  head.append(button)
}

function sortBy(head: HTMLElement, order: 'ascending' | 'descending'): void {
  const heads = [...(head.parentElement?.children ?? [])]
  const place = heads.indexOf(head)
  for (const other of heads) other.removeAttribute('aria-sort')
  head.ariaSort = order
  const keyOf = (row: HTMLTableRowElement) => row.cells[place]?.dataset.value ?? ''
  const isNumber = head.dataset.number !== undefined
  const body = table?.tBodies[0]
  const rows = [...(body?.rows ?? [])].sort((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)]
    // What is not known stays at the end.
    if (one === '' || other === '') return Number(one === '') - Number(other === '')
    const way = isNumber ? Number(one) - Number(other) : one.localeCompare(other)
    return order === 'ascending' ? way : -way
  })
  body?.append(...rows)
}

const field = document.querySelector<HTMLInputElement>('.find')
const told = document.querySelector<HTMLElement>('.found')
if (field !== null) {
  field.hidden = false
  field.addEventListener('input', () => find(field.value))
}

/** Shows the clients in whose name, job or site all words are. */
function find(text: string): void {
  const words = text.toLowerCase().split(/\s+/)
  let shown = 0
  for (const row of table?.tBodies[0]?.rows ?? []) {
    const searched = row.cells[0]?.dataset.find ?? ''
    row.hidden = !words.every((word) => searched.includes(word))
    if (!row.hidden) shown += 1
  }
  if (told !== null) told.textContent = `${shown} ${told.dataset.text ?? ''}`
}
