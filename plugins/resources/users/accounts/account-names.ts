import {
  type After,
  and,
  type Caller,
  contains,
  DocumentStore,
  type Find,
  isIn,
  or,
  Policy,
  type Stored,
  startsWith,
  type UserRecord,
  type Where,
  wire,
} from 'pounce/sdk'
import { fullNameOf, type NameFinder, overlong, runsOf } from 'pounce/sdk/kit'
import { beginsWordsOf } from 'pounce/sdk/search'
import { users } from '../collections.ts'

const named = ['firstName', 'lastName'] as const
/** Accounts that are read for one answer, so many at a time, as long as the caller may not view enough of them. */
const readTogether = 50
const maxReads = 4
/** Accounts that are looked at in vain before a read ends. */
const maxScanned = 500

/** Finds people by name whose accounts the caller may view; signed-out callers find nobody. */
export class AccountNames implements NameFinder {
  readonly kind = 'user'
  #documents: DocumentStore
  #policy: Policy

  constructor(documents: DocumentStore, policy: Policy) {
    this.#documents = documents
    this.#policy = policy
  }

  async find(text: string, caller: Caller, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]> {
    const query = queryFor(text)
    if (!caller.user || !query) return []
    const found: { readonly id: string; readonly name: string }[] = []
    let after: After | undefined
    for (let read = 0; read < maxReads && found.length < limit; read += 1) {
      const page = await this.#documents.find(users, { ...query, ...(after ? { after } : {}), limit: readTogether, maxScanned })
      const fitting = page.items.filter(user => isThere(user) && beginsWordsOf(text, fullNameOf(user)))
      const seen = await this.#policy.allowed(
        caller,
        'ViewUser',
        'user',
        fitting.map(({ id }) => id),
      )
      found.push(...fitting.filter(({ id }) => seen.has(id)).map(user => ({ id: user.id, name: fullNameOf(user) })))
      if (!page.next) break
      after = page.next
    }
    return found.slice(0, limit)
  }
}
wire(AccountNames, DocumentStore, Policy)

const isThere = ({ status, erasure }: UserRecord & Stored): boolean => status !== 'Inactive' && erasure === undefined

const capitalized = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

/** By a piece of three characters; a shorter text is looked for at the beginning of last names. */
const queryFor = (text: string): Pick<Find, 'using' | 'where'> | undefined => {
  const words = text.split(/\s+/u).filter(word => word !== '')
  const longest = words.toSorted((a, b) => b.length - a.length)[0]
  if (longest === undefined) return undefined
  const [run] = runsOf(longest)
  if (run === undefined) {
    const beginnings = [...new Set([longest, capitalized(longest.toLowerCase())])]
    return { using: 'byName', where: or(...beginnings.map(beginning => startsWith('lastName', beginning))) }
  }
  const pieces = or(...named.map(field => isIn(`${field}~`, [run, overlong])))
  const inNames = words.map((word): Where => or(...named.map(field => contains(field, word))))
  return { using: ['byFirstNamePiece', 'byLastNamePiece'], where: and(pieces, ...inNames) }
}
