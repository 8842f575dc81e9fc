import type { Caller } from '../model/caller.ts'
import type { Kind } from '../model/kind.ts'
import type { License } from '../model/records.ts'
import { contributions } from '../port.ts'
import type { Json } from './document-store.ts'

/** What can be done to many resources at once. */
export type BulkAct = 'delete' | 'move' | 'copy' | 'tag' | 'untag' | 'describe' | 'license' | 'submit'

/** The root of a dataset, or one of its folders. */
export interface BulkPlace {
  readonly dataset: string
  readonly folder?: string | undefined
}

/** How it is done; checked when the job was requested. */
export interface BulkParameters {
  /** Of `move` and `copy`. `from` tells which place a file leaves that is in several; of a copy, which folders above it are kept: those below `from`. */
  readonly to?: BulkPlace | undefined
  readonly from?: BulkPlace | undefined
  /** Of `tag` and `untag`. */
  readonly tags?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly license?: License | undefined
  /** Of `submit`. */
  readonly extractor?: string | undefined
  readonly parameters?: { readonly [key: string]: Json } | undefined
}

/** A part of a bulk job. */
export interface BulkRequest {
  /** Who requested it, with the rights of now. */
  readonly caller: Caller
  readonly parameters: BulkParameters
  /** Id of the job: for deterministic ids of what is created. */
  readonly job: string
}

/** Does it to one resource; checks the rights of the caller. Throws a `Problem` for what is refused. A repeat must do no harm. */
export type BulkOperation = (request: BulkRequest, id: string) => Promise<void>

/** What a plugin can do to many resources at once. */
export interface BulkOperations {
  /** Undefined for what it does not do. */
  of(act: BulkAct, kind: Kind): BulkOperation | undefined
}
/** Plugins with operations for bulk jobs. */
export const BulkOperations = contributions<BulkOperations>('bulkOperations')
