import { type Clock, systemClock } from '../model/time.ts'
import { type App, connections } from '../run/app.ts'
import { type CommandOptions, databaseFile, queueSettings } from '../run/config.ts'
import type { Turn } from '../run/lock.ts'

/** Opens the database for collecting, and gets ready to call the service; sends nothing. It is made or migrated in this process's turn only. */
export async function openApp(options: CommandOptions, turn: Turn, clock: Clock = systemClock): Promise<App> {
  const { settings, timeoutMs } = connections.readOptions(options, clock)
  const database = databaseFile.path(options)
  databaseFile.makeDefaultFolder(database)
  const { needsMigration } = await import('../store/sqlite/connection/database.ts')
  const { openStore } = await import('../store/sqlite/open.ts')
  if (needsMigration(database)) await turn.acquire()
  const store = await openStore(database)
  const queue = queueSettings.url(options)
  // A clock of its own tells no time of this machine.
  const checked = clock === systemClock ? options : null
  if (queue === null) return connections.join({ store, database }, settings, timeoutMs, clock, checked)
  const { openWithMachines } = await import('./coordinate.ts')
  return await openWithMachines({
    store,
    database,
    http: await connections.http(settings, timeoutMs),
    service: settings,
    queue,
    leaseMs: queueSettings.lease(options),
    turn,
    clock,
    checked,
  })
}
