/** Periods and comparisons that the page offers by name, beside those of the report and free days. */
export const offeredPeriods = ['7d', '28d', '30d', 'month', 'last-month', 'quarter', 'all'] as const
export const offeredComparisons = ['previous-period', '1d', '7d', 'year'] as const
