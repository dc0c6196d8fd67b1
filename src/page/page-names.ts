/** Names that the file of the page, its scripts and its style share. */

/** Class of the root element, while what stands in the file is not what its address asks for. */
export const undrawn = 'undrawn'

/** Id of the script that draws the page, which stands in the file as a text. */
export const pageScriptId = 'page-script'
