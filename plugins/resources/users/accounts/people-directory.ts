import {
  type After,
  type Caller,
  type Contributions,
  DocumentStore,
  type Find,
  Invalid,
  Policy,
  type Ref,
  type Resource,
  Resources,
  type Stored,
  startsWith,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { defaultJsonLimits, foldedText, parseJson } from 'pounce/sdk/kit'
import { users } from '../collections.ts'

type User = UserRecord & Stored

/** Batch size and number of batches of accounts read for one page. */
const batchSize = 200
const maxRounds = 8

/** The search keys, in this order; users found by one are excluded from the next. */
const searchFields = ['sortFirst', 'sortLast', 'email'] as const
type SearchField = (typeof searchFields)[number]
const indexes: Readonly<Record<SearchField, string>> = { sortFirst: 'byFirst', sortLast: 'byLast', email: 'byEmail' }

/** The sort keys of a user's name: first name first, and last name first. */
export const sortedNames = ({ firstName, lastName }: Pick<UserRecord, 'firstName' | 'lastName'>) => ({
  sortFirst: foldedText(`${firstName} ${lastName}`),
  sortLast: foldedText(`${lastName} ${firstName}`),
})

interface Cursor {
  readonly way: SearchField
  readonly after?: After
}

const readCursor = (text: string | undefined): Cursor => {
  if (text === undefined) return { way: searchFields[0] }
  try {
    const { way, after } = parseJson(Buffer.from(text, 'base64url'), defaultJsonLimits) as Cursor
    const isAfter = Array.isArray(after) && after.every(part => part === null || typeof part !== 'object')
    if (searchFields.includes(way) && (after === undefined || isAfter)) return { way, ...(after ? { after } : {}) }
  } catch (error) {
    throw new Invalid('after must be a cursor from a Link header', { cause: error })
  }
  throw new Invalid('after must be a cursor from a Link header')
}

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url')

/** Finds users by prefix of a name or address, among those whose account the caller may view. */
export class PeopleDirectory {
  #documents: DocumentStore
  #policy: Policy

  constructor(documents: DocumentStore, policy: Policy) {
    this.#documents = documents
    this.#policy = policy
  }

  async page(caller: Caller, searchText: string, { after: text, limit }: { readonly after: string | undefined; readonly limit: number }) {
    const prefix = foldedText(searchText.trim())
    let { way, after } = readCursor(text)
    const found: User[] = []
    for (let round = 0; round < maxRounds; round++) {
      const page = await this.#documents.find(users, queryOf(way, prefix, after))
      for (const user of await this.#shown(caller, way, prefix, page.items)) {
        if (found.length === limit) return { people: found, next: writeCursor({ way, ...(after ? { after } : {}) }) }
        found.push(user)
        after = [user[way] ?? null, user.id]
      }
      after = page.next
      if (after) continue
      const following = prefix === '' ? undefined : searchFields[searchFields.indexOf(way) + 1]
      if (!following) return { people: found, next: undefined }
      way = following
    }
    return { people: found, next: writeCursor({ way, ...(after ? { after } : {}) }) }
  }

  async #shown(caller: Caller, way: SearchField, prefix: string, some: readonly User[]): Promise<readonly User[]> {
    const former = searchFields.slice(0, searchFields.indexOf(way))
    const fresh = some.filter(user => user.status !== 'Inactive' && !former.some(each => user[each]?.startsWith(prefix)))
    const seen = await this.#policy.seen(
      caller,
      'user',
      fresh.map(({ id }) => id),
    )
    return fresh.filter(({ id }) => seen.has(id))
  }
}
wire(PeopleDirectory, DocumentStore, Policy)

const queryOf = (way: SearchField, prefix: string, after: After | undefined): Find => ({
  using: indexes[way],
  ...(prefix === '' ? {} : { where: startsWith(way, prefix) }),
  sort: { by: way, order: 'ascending' },
  limit: batchSize,
  ...(after ? { after } : {}),
})

/** The resources that a user follows. */
export class FollowedResources {
  #users: Users
  #policy: Policy
  #resources: Contributions<Resource>

  constructor(all: Users, policy: Policy, resources: Contributions<Resource>) {
    this.#users = all
    this.#policy = policy
    this.#resources = resources
  }

  /** By type and id. Resources that the user may no longer view are omitted, so a page can be short. */
  async page(caller: Caller, user: string, { after = '', limit }: { readonly after: string | undefined; readonly limit: number }) {
    const all = (await this.#users.get(user))?.followed ?? []
    const sorted = all.map(ref => ({ key: keyOf(ref), ref })).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const rest = sorted.filter(({ key }) => key > after)
    const page = rest.slice(0, limit)
    const names = new Map<string, string>()
    for (const [kind, some] of Map.groupBy(page, ({ ref }) => ref.kind)) {
      const seen = await this.#policy.seen(
        caller,
        kind,
        some.map(({ ref }) => ref.id),
      )
      const found = await this.#resources
        .all()
        .find(resource => resource.kind === kind)
        ?.namesOf?.([...seen])
      for (const [id, name] of found ?? []) names.set(keyOf({ kind, id }), name)
    }
    const items = page.flatMap(({ key, ref }) => {
      const name = names.get(key)
      return name === undefined ? [] : [{ type: ref.kind, id: ref.id, name }]
    })
    return { items, next: rest.length > limit ? page.at(-1)?.key : undefined }
  }
}
wire(FollowedResources, Users, Policy, Resources)

const keyOf = ({ kind, id }: Ref): string => `${kind}_${id}`
