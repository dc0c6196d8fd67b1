const heights = '▁▂▃▄▅▆▇█'

/** Days that are shown at most. */
const most = 28

/** Values as one sign each, between the least and the greatest of them; a blank for a day that is not known. */
export function sparkSigns(values: readonly (number | null)[]): string {
  const shown = values.slice(-most)
  const known = shown.filter((value) => value !== null)
  const [least, greatest] = [Math.min(...known), Math.max(...known)]
  // All the same is in the middle, nothing at all at the bottom.
  const flat = greatest === 0 ? 0 : 0.5
  return shown
    .map((value) => {
      if (value === null) return ' '
      const place = greatest === least ? flat : (value - least) / (greatest - least)
      return heights[Math.round(place * (heights.length - 1))] as string
    })
    .join('')
}

export const sparkSize = { width: 120, height: 28 } as const
const edge = 3

/** The same as points of a line in a picture of {@link sparkSize}: one line for each stretch of known days. */
export function sparkPoints(
  values: readonly (number | null)[],
): readonly (readonly (readonly [x: number, y: number])[])[] {
  const known = values.filter((value) => value !== null)
  const [least, greatest] = [Math.min(...known), Math.max(...known)]
  const { width, height } = sparkSize
  const x = (day: number): number =>
    values.length < 2 ? width - edge : edge + (day / (values.length - 1)) * (width - 2 * edge)
  const y = (value: number): number =>
    greatest === least
      ? height / 2
      : height - edge - ((value - least) / (greatest - least)) * (height - 2 * edge)
  const lines: [number, number][][] = []
  let line: [number, number][] = []
  for (const [day, value] of values.entries()) {
    if (value === null) line = []
    else {
      if (line.length === 0) lines.push(line)
      line.push([round(x(day)), round(y(value))])
    }
  }
  return lines
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
