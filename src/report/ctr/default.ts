import { parseCtr } from './parse.ts'

/** The curve of reports for which none is named, as the file that a curve of one's own is. */
export const defaultCurveCsv = `# name: Sistrix 2020 (mobile)
# version: 2020-07
# source: Sistrix, Why (almost) everything you knew about Google CTR is no longer valid, July 2020: average of mobile Google searches for over 80 million keywords; it lists ranks 1 to 10, and says less than 1% for each after them
rank,ctr
1,28.5%
2,15.7%
3,11.0%
4,8.0%
5,7.2%
6,5.1%
7,4.0%
8,3.2%
9,2.8%
10,2.5%
`

export const defaultCurve = parseCtr(defaultCurveCsv, 'the default curve')
