import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { apiKey } from './fault-cases.ts'
import type { Story } from './fault-run.ts'

/** What is wrong with the file as such, and with the books set against the service's own count. */
export async function wrongFile({ path }: Story): Promise<readonly string[]> {
  if (!existsSync(path)) return []
  const { findings } = await checkDatabase(path)
  const keyed = readdirSync(dirname(path)).filter((file) =>
    readFileSync(join(dirname(path), file)).includes(apiKey),
  )
  return [
    ...findings.map(({ what, first }) => `${what}: ${first}`),
    ...keyed.map((file) => `the key is in ${file}`),
    ...(await wrongCount(path)),
  ]
}

async function wrongCount(path: string): Promise<readonly string[]> {
  await using store = await openStore(path)
  return (await store.keysRead()).flatMap((key) => {
    const { total } = verifyLedger(store.readings(key), store.charges(key))
    if (total === null || (total.spentByOthers === 0 && total.notCounted === 0)) return []
    return [`the service counted otherwise: ${JSON.stringify(total)}`]
  })
}
