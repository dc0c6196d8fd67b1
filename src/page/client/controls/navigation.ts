import type { PageData } from '../../../report/data.ts'
import { addressOf, placeIn, type ReaderPlace } from './address.ts'

/**
 * Keeps the address of the page: each step of the reader is one entry in the history of the browser, so that Back undoes it.
 *
 * @param restore shows another place, after Back, Forward or a changed address
 */
export function navigation(data: PageData, restore: (next: ReaderPlace, before: ReaderPlace) => void) {
  let place = placeIn(location.hash, data)
  let lastStep = ''
  window.addEventListener('hashchange', () => {
    const before = place
    place = placeIn(location.hash, data)
    lastStep = ''
    restore(place, before)
  })
  return {
    place: (): ReaderPlace => place,
    /**
     * Takes a step.
     *
     * @param step equal steps after each other, such as the letters of a word, are one entry; each is one if it is not named
     */
    go: (change: Partial<ReaderPlace>, step = ''): void => {
      const next = { ...place, ...change }
      const hash = addressOf(next, data)
      const isNew = hash !== addressOf(place, data)
      place = next
      if (!isNew) return
      const address = `${location.href.split('#')[0]}${hash === '' ? '' : `#${hash}`}`
      if (step !== '' && step === lastStep) history.replaceState(null, '', address)
      else history.pushState(null, '', address)
      lastStep = step
    },
  }
}
