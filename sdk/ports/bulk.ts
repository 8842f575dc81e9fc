import type { Caller } from '../model/caller.ts'
import type { Kind } from '../model/kind.ts'
import type { License } from '../model/records.ts'
import { contributions } from '../port.ts'
import type { Json } from './document-store.ts'

/** Operations on many resources at once. */
export type BulkAct = 'delete' | 'move' | 'copy' | 'tag' | 'untag' | 'describe' | 'license' | 'submit'

/** The root of a dataset, or one of its folders. */
export interface BulkPlace {
  readonly dataset: string
  readonly folder?: string | undefined
}

/** Parameters of the operation; validated when the job is requested. */
export interface BulkParameters {
  /** For `move` and `copy`. `from`: for a file in several places, the one to move from; for a copy, folders below it are recreated. */
  readonly to?: BulkPlace | undefined
  readonly from?: BulkPlace | undefined
  /** For `tag` and `untag`. */
  readonly tags?: readonly string[] | undefined
  /** For `untag`: only tags that the caller added from this time on; ISO 8601 in UTC, with milliseconds. */
  readonly addedSince?: string | undefined
  readonly description?: string | undefined
  readonly license?: License | undefined
  /** For `submit`. */
  readonly extractor?: string | undefined
  readonly parameters?: { readonly [key: string]: Json } | undefined
}

/** A part of a bulk job. */
export interface BulkRequest {
  /** The user who requested it, with current rights. */
  readonly caller: Caller
  readonly parameters: BulkParameters
  /** Id of the job, for deriving deterministic ids of created resources. */
  readonly job: string
}

/** Applies the operation to one resource, after checking the caller's rights. Throws a `Problem` if refused. Must be idempotent. */
export type BulkOperation = (request: BulkRequest, id: string) => Promise<void>

/** The bulk operations of a plugin. */
export interface BulkOperations {
  /** Undefined if not supported. */
  of(act: BulkAct, kind: Kind): BulkOperation | undefined
}
/** Plugins with operations for bulk jobs. */
export const BulkOperations = contributions<BulkOperations>('bulkOperations')
