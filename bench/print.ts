import { cpus } from 'node:os'

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Where and when a benchmark ran. */
export function machine(): string {
  return `Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${new Date().toISOString().slice(0, 10)}`
}

/** Of an even count, what lies between the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const [below, above] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((below as number) + (above as number)) / 2
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US')
}

/** Whole ones, of 10^6 bytes. */
export function megabytes(bytes: number): string {
  return grouped(Math.round(bytes / 1e6))
}
