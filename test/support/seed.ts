import fc from 'fast-check'
import { beforeAll, type RunnerTestSuite } from 'vitest'

/** Names the cases that tests draw at random: the same every time, so that what fails is the change at hand. */
export const seed = Number(process.env.RANKLINE_TEST_SEED ?? 1)
/** How often each test is run: what must hold every time is tried so, with a file and `-t`. */
const times = Number(process.env.RANKLINE_TEST_REPEATS ?? 1)

fc.configureGlobal({ seed })

// biome-ignore lint/correctness/noEmptyPattern: vitest takes nothing else as the first argument.
beforeAll(({}, file) => {
  repeat(file)
})

function repeat({ tasks }: Pick<RunnerTestSuite, 'tasks'>): void {
  for (const task of tasks) {
    if (task.type === 'suite') repeat(task)
    else task.repeats = times - 1
  }
}
