import type { Terminal } from '../../src/output/terminal.ts'

/** A terminal of 80 columns that shows nothing but what these parts do. */
export function aTerminal(parts: Partial<Terminal> = {}): Terminal {
  return { write: async () => {}, log: () => {}, status: null, columns: 80, color: false, ...parts }
}
