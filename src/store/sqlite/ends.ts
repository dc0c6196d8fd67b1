import { type EndKind, isFinal } from '../../rank/paging.ts'

const kinds = (Object.keys(isFinal) as EndKind[]).filter((kind) => isFinal[kind])

/** Condition on the `paging_kind` of a query: a deeper plan would still ask for nothing. */
export const finalKinds = `(${kinds.map((kind) => `'${kind}'`).join(', ')})`
