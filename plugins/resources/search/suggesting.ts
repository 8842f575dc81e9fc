import { type Caller, type FieldCount, Invalid, Policy, port, SearchIndex, type ValueCount, wire } from 'pounce/sdk'

const fixed = [
  'name',
  'description',
  'creator',
  'email',
  'created',
  'created_as',
  'resource_type',
  'content_type',
  'comment',
  'in',
  'contains',
]

/** What to offer to who is typing a query: nothing that they may not see is told or counted. */
export class Suggesting {
  #index: SearchIndex
  #policy: Policy

  constructor(index: SearchIndex, policy: Policy) {
    this.#index = index
    this.#policy = policy
  }

  fields(prefix: string, limit: number, caller: Caller): Promise<readonly FieldCount[]> {
    return this.#index.fields(prefix.replace(/^metadata\./, ''), this.#policy.searchScope(caller), limit)
  }

  async values(field: string, prefix: string, limit: number, caller: Caller): Promise<readonly ValueCount[]> {
    if (fixed.includes(field)) throw new Invalid(`Values are suggested for tag and for metadata, not for ${field}`)
    if (field !== 'tag') return this.#index.values(field, prefix, this.#policy.searchScope(caller), limit)
    return (await this.tags(prefix, limit, caller)).map(({ tag, count }) => ({ value: tag, count }))
  }

  tags(prefix: string, limit: number, caller: Caller): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    return this.#index.tags(prefix, this.#policy.searchScope(caller), limit)
  }
}
wire(Suggesting, SearchIndex, Policy)

export const Suggest = port<Suggesting>('search.suggesting')
