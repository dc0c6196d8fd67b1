/** Whether tests that grow with the time they are given take their long form: see `npm run test:long`. */
export const long: boolean = process.env.RANKLINE_TEST_LONG === '1'
