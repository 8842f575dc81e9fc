import {
  type Caller,
  type CollectionRecord,
  type DatasetRecord,
  Policy,
  Spaces,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import type { BagSubject } from './bag-documents.ts'

/**
 * The authors whose email addresses a bag shows: accounts that the caller may view, and none for anonymous callers, because bags are passed
 * on.
 */
export const emailsShownTo = async (caller: Caller, policy: Policy, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  caller.user ? policy.allowed(caller, 'ViewUser', 'user', ids) : new Set()

type Subject = (DatasetRecord | CollectionRecord) & Stored

/** Reads the data for descriptions of datasets and collections: their authors, and the spaces that the caller may view. */
export class BagSubjects {
  #users: Users
  #spaces: Spaces
  #policy: Policy

  constructor(users: Users, spaces: Spaces, policy: Policy) {
    this.#users = users
    this.#spaces = spaces
    this.#policy = policy
  }

  async of(caller: Caller, kind: BagSubject['kind'], record: Subject): Promise<BagSubject> {
    const [found] = await this.ofAll(caller, kind, [record])
    return found as BagSubject
  }

  async ofAll(caller: Caller, kind: BagSubject['kind'], records: readonly Subject[]): Promise<readonly BagSubject[]> {
    const authors = await inBatches(
      records.map(({ author }) => author),
      ids => this.#users.getMany(ids),
    )
    const spaces = await inBatches(
      records.flatMap(record => record.spaces),
      async ids => this.#spaces.getMany([...(await this.#policy.allowed(caller, 'ViewSpace', 'space', ids))]),
    )
    const shown = await emailsShownTo(caller, this.#policy, [...authors.keys()])
    return records.map(record => ({
      kind,
      record,
      author: authors.get(record.author) as (UserRecord & Stored) | undefined,
      spaces: record.spaces.flatMap(id => spaces.get(id)?.name ?? []),
      showsEmail: shown.has(record.author),
    }))
  }
}
wire(BagSubjects, Users, Spaces, Policy)
const batchSize = 1000

const inBatches = async <T>(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<ReadonlyMap<string, T>> => {
  const all = [...new Set(ids)]
  const found = new Map<string, T>()
  for (let at = 0; at < all.length; at += batchSize) {
    for (const [id, value] of await read(all.slice(at, at + batchSize))) found.set(id, value)
  }
  return found
}
