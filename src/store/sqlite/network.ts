import { statfsSync } from 'node:fs'
import { UsageError } from '../../errors.ts'

/** File systems of other machines, by the numbers with which Linux names them (linux/magic.h). */
const networks: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'SMB',
  1397113167: 'AFS',
  1937076805: 'Coda',
  12805120: 'Ceph',
}

/** The name of a file system on which SQLite's locks and its log cannot be trusted; null where they can. */
export function networkName(type: number): string | null {
  // Kernels give the number with or without a sign.
  return networks[type >>> 0] ?? null
}

/** Refuses a database in a folder of another machine. */
export function refuseNetworkFolder(folder: string): void {
  if (process.platform !== 'linux') return
  const name = networkName(Number(statfsSync(folder).type))
  if (name === null) return
  throw new UsageError(
    `${folder} is on a network file system (${name}), where a database may be damaged. Name one on a local disk with --db`,
  )
}
