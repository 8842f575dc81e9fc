import { type Caller, Invalid, isServerAdmin, Policy, Users, wire } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { isAnything } from 'pounce/sdk/search'
import { type FieldCondition, mapField } from './map-field.ts'

const maxAddresses = 20

/**
 * Resolves `email:` on a private server, where an address is visible only to callers who may view its account: full addresses of such
 * accounts only. With prefixes and patterns, the index would reveal the address of every author whose work is visible.
 */
export class AuthorAddresses {
  #policy: Policy
  #users: Users

  constructor(policy: Policy, users: Users) {
    this.#policy = policy
    this.#users = users
  }

  /** The query in index form. Throws `Invalid` for anything but full addresses. */
  async resolve(query: SearchQuery, caller: Caller): Promise<SearchQuery> {
    if (!this.#policy.isPrivate || isServerAdmin(caller)) return query
    const addresses = new Set<string>()
    mapAddresses(query, condition => {
      for (const address of addressesOf(condition)) addresses.add(address)
      return condition
    })
    if (addresses.size === 0) return query
    if (addresses.size > maxAddresses) throw new Invalid(`A query can have at most ${maxAddresses} addresses`)
    const authors = await this.#authorsOf([...addresses], caller)
    return mapAddresses(query, condition => {
      const ids = addressesOf(condition).flatMap(address => authors.get(address) ?? [])
      return ids.length === 0 ? { op: 'ids', ids } : { op: 'field', field: 'creator', is: 'equals', values: ids }
    })
  }

  async #authorsOf(addresses: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string>> {
    const found = await Promise.all(addresses.map(async address => [address, (await this.#users.byEmail(address))?.id] as const))
    const ids = found.flatMap(([, id]) => (id === undefined ? [] : [id]))
    const seen = await this.#policy.allowed(caller, 'ViewUser', 'user', ids)
    return new Map(found.flatMap(([address, id]) => (id !== undefined && seen.has(id) ? [[address, id] as const] : [])))
  }
}
wire(AuthorAddresses, Policy, Users)
/** `exists` reveals nothing: each author has an address. */
const mapAddresses = (query: SearchQuery, replace: (condition: FieldCondition) => SearchQuery): SearchQuery =>
  mapField(query, 'email', condition => (condition.op === 'exists' || condition.op === 'missing' ? condition : replace(condition)))

const addressesOf = (condition: FieldCondition): readonly string[] => {
  if (condition.op === 'phrase') return [condition.text.trim()]
  const isWhole = condition.op === 'field' && (condition.is === 'contains' || condition.is === 'equals')
  const addresses = isWhole ? condition.values.map(value => String(value).trim()) : []
  if (addresses.length === 0 || addresses.some(address => isAnything(address) || /[*?]/.test(address)))
    throw new Invalid('email must be a full address on this server: email:ada@example.org')
  return addresses
}
