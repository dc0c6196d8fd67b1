/** One-off searches are runs of a job of this name, so that they are found in every view and export. */
export const searchJob = 'search'
