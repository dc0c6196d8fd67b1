import { spawnSync } from 'node:child_process'

/** Lets a folder be read only, as a disk that is mounted so; null where this machine refuses that. */
export function readOnly(folder: string): Disposable | null {
  const run = (...args: string[]) => spawnSync('mount', args).status === 0
  if (run('--bind', folder, folder) && run('-o', 'remount,bind,ro', folder))
    return { [Symbol.dispose]: () => void spawnSync('umount', ['-l', folder]) }
  spawnSync('umount', ['-l', folder])
  process.stderr.write('This machine refuses read-only mounts: what is on them is not tested.\n')
  return null
}
