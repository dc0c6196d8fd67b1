import type { Presentation } from '../../presentation/presentation.ts'
import { html } from './dom.ts'
import { say } from './language.ts'

/** The logo; null if there is none. */
export function logo({ logo: address, agency }: Presentation): HTMLElement | null {
  return address === null ? null : html('img', { class: 'logo', src: address, alt: agency ?? '' })
}

/** What the report is, for whom, and by whom. */
export function kindLine({ client, agency }: Presentation): HTMLElement {
  const names = [
    client === null ? null : say.brand.for(client),
    agency === null ? null : say.brand.by(agency),
  ]
  return html(
    'p',
    'kind',
    say.brand.kind,
    ...names.flatMap((name) => (name === null ? [] : [' · ', html('bdi', '', name)])),
  )
}

/** The last line of the page; null if the job names none. */
export function footer({ footer: text }: Presentation): HTMLElement | null {
  return text === null ? null : html('footer', 'page-footer', html('bdi', '', text))
}
