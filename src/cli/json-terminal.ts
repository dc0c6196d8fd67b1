import { jsonLog } from '../app/json-log.ts'
import type { Terminal } from '../output/terminal.ts'

/** A terminal whose messages are JSON lines; nothing else goes to standard error, so no question is asked either. */
export function jsonTerminal(terminal: Terminal): Terminal {
  const write = jsonLog((line) => terminal.log(line))
  return {
    ...terminal,
    // Programs know which one wrote the line.
    log: (line, about = {}) => write(line.replace(/^rankline: /, ''), about),
    event: write,
    ask: null,
    status: null,
  }
}
