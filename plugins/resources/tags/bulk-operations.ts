import { authorize, type BulkOperations, type Kind, Policy, wire } from 'pounce/sdk'
import type { BulkAct, BulkOperation } from 'pounce/sdk/kit'
import { StoredTags } from './stored-tags.ts'

const taggable: ReadonlySet<Kind> = new Set(['file', 'dataset', 'collection'])

/** Tag operations of bulk jobs, as the routes for a single resource do them. */
export class TagBulkOperations implements BulkOperations {
  readonly #tags: StoredTags
  readonly #policy: Policy

  constructor(tags: StoredTags, policy: Policy) {
    this.#tags = tags
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    if (!taggable.has(kind)) return undefined
    if (act === 'tag') return this.#tag(kind)
    return act === 'untag' ? this.#untag(kind) : undefined
  }

  #tag(kind: Kind): BulkOperation {
    return async ({ caller, parameters: { tags = [] } }, id) => {
      await authorize(this.#policy, caller, 'AddTag', { kind, id })
      await this.#tags.add({ kind, id }, tags, caller.user ? { user: caller.user.id } : {})
    }
  }

  #untag(kind: Kind): BulkOperation {
    return async ({ caller, parameters: { tags = [], addedSince } }, id) => {
      await authorize(this.#policy, caller, 'DeleteTag', { kind, id })
      await this.#tags.removeNamed({ kind, id }, tags, caller.user?.id, addedSince)
    }
  }
}
wire(TagBulkOperations, StoredTags, Policy)
