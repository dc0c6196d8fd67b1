/** Whether tests that grow with the time they are given take their long form: see `npm run test:long`. */
export const long: boolean = process.env.RANKLINE_TEST_LONG === '1'

/** How many times as much the long form tries as it usually does: kills, cases and histories. */
const factor = Number(process.env.RANKLINE_TEST_TIMES ?? 1)

/** How often something is tried in the long form, and in the short one. */
export function often(inLong: number, inShort: number): number {
  return long ? Math.ceil(inLong * factor) : inShort
}
