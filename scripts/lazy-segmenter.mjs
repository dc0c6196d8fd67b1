const { Segmenter } = Intl
const eachIsOneLetter = /^[\u0020-\u007e\u00a0-\u02ff]*$/

/**
 * Stands in the bundle for `Intl.Segmenter`. What yargs depends on makes one when it is loaded, which takes 25 ms of
 * every start; help texts need one only for letters beyond these. For the same reason package.json keeps yargs on
 * string-width 7: version 8 compiles patterns for 30 ms when it is loaded.
 */
export class LazySegmenter {
  #segmenter = null

  segment(text) {
    if (eachIsOneLetter.test(text)) return Array.from(text, (segment) => ({ segment }))
    this.#segmenter ??= new Segmenter()
    return this.#segmenter.segment(text)
  }
}
