import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

/** Ends the thread of that name once there is a file `die`. */
const mortal = (name: string) => `
const { isMainThread } = require('node:worker_threads')
const { existsSync } = require('node:fs')
const isMeant = () => process.argv[1]?.endsWith('${name}.js')
if (!isMainThread) setInterval(() => isMeant() && existsSync('die') && process.exit(9), 2).unref()
`

test.each(['store-thread', 'keeper-thread'])(
  'what is in the air when the %s dies is stored all the same, and not bought again',
  async (name) => {
    await using scene = await stage({ latencyMs: 400 })
    const { sandbox, place } = scene
    const job = await place.file('job.csv', queriesCsv(200))
    const preload = await place.file('mortal.cjs', mortal(name))
    const { ended } = place.start(['run', job, '--concurrency', '64'], {
      NODE_OPTIONS: `--require=${place.folder}/${preload}`,
    })
    while (sandbox.ledger.requestsFor(isSearch).length < 100)
      await new Promise((resolve) => setTimeout(resolve, 5))
    await place.file('die', '')

    const died = await ended
    const charged = sandbox.ledger.charged

    expect(died.code).toBe(1)
    expect(died.stderr).toContain(`The ${name} has ended`)
    expect(charged).toBeLessThan(200)
    expect(place.sql('SELECT finish_reason AS reason FROM runs')).toEqual([{ reason: 'crashed' }])
    expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: charged }])

    const again = await place.run(['run', job])
    expect([again.code, sandbox.ledger.charged]).toEqual([0, 200])
    expect((await place.run(['db', 'check'])).code).toBe(0)
  },
)
