import { h } from './dom.ts'

type Theme = 'light' | 'dark'

/** The button that turns light into dark and back. Until it is pressed the page follows the system. */
export function themeSwitch(): HTMLElement {
  const system = matchMedia('(prefers-color-scheme: dark)')
  let chosen: Theme | null = null
  const button = h('button', { type: 'button', class: 'quiet', on: { click: turn } })
  system.addEventListener('change', show)
  show()
  return button

  function current(): Theme {
    return chosen ?? (system.matches ? 'dark' : 'light')
  }

  function turn(): void {
    chosen = current() === 'dark' ? 'light' : 'dark'
    show()
  }

  function show(): void {
    const theme = current()
    document.documentElement.dataset.theme = theme
    button.textContent = theme === 'dark' ? 'Light' : 'Dark'
    button.setAttribute('aria-label', theme === 'dark' ? 'Use light colours' : 'Use dark colours')
  }
}
