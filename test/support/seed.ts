import fc from 'fast-check'

/** Names the cases that tests draw at random: the same every time, so that what fails is the change at hand. */
export const seed = Number(process.env.RANKLINE_TEST_SEED ?? 1)

fc.configureGlobal({ seed })
