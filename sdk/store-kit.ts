/*
 * `pounce/sdk/store-kit`: for authors of document and blob stores. Reference evaluation of queries, updates and indexes, and types that only stores use. For
 * search engines see `pounce/sdk/search`, for datapoint stores `pounce/sdk/geo`, for SQLite files `pounce/sdk/sqlite`.
 */

export { applyUpdate } from './documents/apply-update.ts'
export { checkCollection, checkId } from './documents/check-document.ts'
export { checkFind, checkSeek, conjunctsOf, indexesOf, namesOf } from './documents/check-find.ts'
export { type Key, keysOf } from './documents/index-keys.ts'
export { matcher } from './documents/matcher.ts'
export { leavesAt } from './documents/paths.ts'
export { cellValueIn, type FoundDocument, formatCell, formatDocument, formatDocuments } from './documents/row-formats.ts'
export { compareScalars, deepFreeze, isScalar, type Scalar, sameJson } from './documents/scalars.ts'
export type { BlobEntry, BlobInfo, BlobPlace, ObjectAddress, PutOptions, TemporaryUrlOptions } from './ports/blob-store.ts'
export type { Change, Committed, Index } from './ports/document-store.ts'
export type { AbsentConsumer, Consumer, DeadLetter, Delivery, Outbox } from './ports/outbox.ts'
