import { competitorsLine } from '../../competitors-line.ts'
import { copyText } from '../clipboard.ts'
import { ariaHidden, button, html, srOnly } from '../dom.ts'
import { say } from '../language.ts'
import { note } from './section.ts'

/** Buttons that put sites on a line for the job file, and the line. */
export function jobLine() {
  const words = say.competitors
  const code = html('code', 'code')
  const said = html('span', { class: 'about', role: 'status' })
  const again = button('quiet', copy, {}, words.copyAgain)
  const element = html(
    'div',
    { class: 'job-line', hidden: true },
    html('p', '', words.jobLine),
    html('p', '', code, ' ', again, ' ', said),
    note(words.jobLineNote),
  )
  const sites: string[] = []
  return {
    element,
    button: (site: string): HTMLElement => {
      const label = new Text(words.add)
      const add = button(
        'quiet add-site',
        () => {
          if (!sites.includes(site)) sites.push(site)
          code.textContent = competitorsLine(sites)
          element.hidden = false
          label.data = words.added
          copy()
        },
        {},
        html('span', 'add-full', label),
        ariaHidden('+', 'add-short'),
        srOnly(`: ${site}`),
      )
      return add
    },
  }

  function copy(): void {
    void copyText(competitorsLine(sites)).then((isCopied) => {
      said.textContent = isCopied ? words.copied : words.notCopied
    })
  }
}
