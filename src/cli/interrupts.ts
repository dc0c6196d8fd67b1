import { stopSignal } from '../collect/stop.ts'
import { exitCodes, signalCodes } from '../model/run.ts'
import type { Terminal } from '../output/terminal.ts'

/** The first Ctrl-C (or SIGTERM, SIGHUP) stops cleanly; the second ends the process at once. */
export function listenForInterrupts(terminal: Terminal) {
  const stop = stopSignal()
  let code: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    if (code !== null) process.exit(code)
    code = signalCodes[signal as keyof typeof signalCodes]
    terminal.log(
      'Stopping: calls that were already sent are awaited and stored. A second Ctrl-C (or signal) ends at once; it then stays unknown whether these calls were billed.',
    )
    stop.request({ reason: 'interrupted', message: 'Interrupted.' })
  }
  for (const signal of Object.keys(signalCodes)) process.on(signal, onSignal)
  return {
    stop,
    /** Exit code of what was interrupted: by the signal that came first. */
    exitCode: () => code ?? exitCodes.interrupted,
    [Symbol.dispose]: () => {
      for (const signal of Object.keys(signalCodes)) process.off(signal, onSignal)
    },
  }
}
