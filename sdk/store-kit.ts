/*
 * `pounce/sdk/store-kit`: for authors of document and blob stores. Queries, updates and indexes evaluated as every store must, and the types that
 * only stores see. Search engines find theirs in `pounce/sdk/search`, stores of datapoints in `pounce/sdk/geo`, what keeps a SQLite file in `pounce/sdk/sqlite`.
 */

export { applyUpdate } from './documents/apply-update.ts'
export { checkCollection, checkId } from './documents/check-document.ts'
export { checkFind, checkSeek, conjunctsOf, indexesOf, namesOf } from './documents/check-find.ts'
export { type Key, keysOf } from './documents/index-keys.ts'
export { documentLine, type FoundDocument, linesOf, printCell, shownIn } from './documents/lines.ts'
export { matcher } from './documents/matcher.ts'
export { leavesAt, valueAt } from './documents/paths.ts'
export { compareScalars, deepFreeze, isScalar, type Scalar, sameJson } from './documents/scalars.ts'
export type { BlobEntry, BlobFacts, BlobPlace, ObjectAddress, PutOptions, TemporaryUrlOptions } from './ports/blob-store.ts'
export type { Change, Committed, Index } from './ports/document-store.ts'
export type { AbsentConsumer, Consumer, DeadLetter, Delivery, Outbox } from './ports/outbox.ts'
