/** Long tests run in full; otherwise a short form of each shows that it works. */
export const long = process.env.RANKLINE_TEST_LONG === '1'
