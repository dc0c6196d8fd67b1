/** Loaded before the program: the clock of its machine is wrong by so much. */
const skewMs = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0)
const now = Date.now
Date.now = () => now() + skewMs
