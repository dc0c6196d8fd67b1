import { cpus } from 'node:os'

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Where and when a benchmark ran. */
export function machine(): string {
  return `Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${new Date().toISOString().slice(0, 10)}`
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US')
}
