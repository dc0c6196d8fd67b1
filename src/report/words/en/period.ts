/** The days of a report, and those that they are compared with. */
export const period = {
  /** Two days in words, such as `24 Oct` and `20 Nov 2026`. */
  range: (from: string, until: string) => `${from} to ${until}`,
  compared: (days: string) => `compared with ${days}`,
  notCompared: 'nothing to compare with',
  /** Follows the compared day where some keywords were not checked on it. */
  nearest: 'or the nearest day checked',
  /** What was asked for where another day was found. */
  askedFor: (day: string, tolerance: string) => `asked for: ${day}, ±${tolerance}`,
}
