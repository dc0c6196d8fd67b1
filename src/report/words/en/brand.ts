/** The head and the foot of a report. */
export const brand = {
  kind: 'Rank report',
  /** Title of the window and of the file. */
  title: (name: string) => `${name} · Rank report`,
  for: (client: string) => `for ${client}`,
  by: (agency: string) => `by ${agency}`,
  comment: 'Comment',
  needsScript: 'This report needs JavaScript. Allow its script to run; it loads nothing from the network.',
}
