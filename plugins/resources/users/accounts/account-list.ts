import {
  type AccountStatus,
  type After,
  and,
  contains,
  DocumentStore,
  isIn,
  or,
  overlong,
  type Page,
  runsOf,
  type Stored,
  type UserRecord,
  type Where,
  wire,
} from 'pounce/sdk'
import { users } from '../collections.ts'

/** Which accounts an admin looks for. */
export interface AccountSearch {
  readonly status?: AccountStatus
  /** Text anywhere in the e-mail address, the first or the last name; of several words each of them. One has at least three characters. */
  readonly text?: string
}

export const allStatuses: readonly AccountStatus[] = ['Active', 'Inactive', 'ReadOnly', 'Admin']
const searched = ['email', 'firstName', 'lastName'] as const
const pieces = ['byEmailPiece', 'byFirstNamePiece', 'byLastNamePiece']
/** Accounts that are looked at in vain before a page ends. */
const patience = 2000

const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter(word => word !== '')

/** True of a text that an index can find. */
export const isSearchable = (text: string): boolean => runsOf(text).length > 0

/** Finds accounts for admins. */
export class AccountDirectory {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** By id, which is the oldest first. A page can be short, with a `next`. */
  page({ status, text = '' }: AccountSearch, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>> {
    const ofStatus = isIn('status', status === undefined ? allStatuses : [status])
    const longest = wordsOf(text).toSorted((a, b) => b.length - a.length)[0] ?? ''
    const [run] = runsOf(longest)
    if (run === undefined) return this.#documents.find(users, { using: 'byStatus', where: ofStatus, ...page })
    const found = or(...searched.map(field => isIn(`${field}~`, [run, overlong])))
    const words = wordsOf(text).map((word): Where => or(...searched.map(field => contains(field, word))))
    return this.#documents.find(users, { using: pieces, where: and(found, ofStatus, ...words), patience, ...page })
  }
}
wire(AccountDirectory, DocumentStore)
