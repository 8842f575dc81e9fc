import {
  type AccountStatus,
  type After,
  and,
  Conflict,
  contains,
  DocumentStore,
  eq,
  event,
  Invalid,
  isIn,
  NotFound,
  or,
  type Page,
  type Stored,
  s,
  type UserRecord,
  Users,
  type Where,
  wire,
} from 'pounce/sdk'
import { optionalOrNull, overlongPiece, trigramsOf } from 'pounce/sdk/kit'
import { users } from '../collections.ts'

const ids = () => optionalOrNull(s.Array(s.id(), { maxItems: 1000 }))

/** Account ids by new status, under v1's names. */
export const AccountList = s.model('AccountLists', s.Object({ active: ids(), inactive: ids(), admin: ids(), readonly: ids() }))

export type AccountList = s.Static<typeof AccountList>

const statuses: Readonly<Record<keyof AccountList, AccountStatus>> = {
  active: 'Active',
  inactive: 'Inactive',
  admin: 'Admin',
  readonly: 'ReadOnly',
}

/** Account management by server admins. */
export class AccountAdministration {
  #documents: DocumentStore
  #users: Users

  constructor(documents: DocumentStore, stored: Users) {
    this.#documents = documents
    this.#users = stored
  }

  /** Accounts, oldest first. */
  page(page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>> {
    return this.#documents.find(users, { using: 'byCreated', sort: { by: 'created', order: 'ascending' }, ...page })
  }

  /** True while there is an account that may administer the server. */
  async hasAdmin(): Promise<boolean> {
    const page = await this.#documents.find(users, { using: 'byStatus', where: eq('status', 'Admin'), limit: 1 })
    return page.items.length > 0
  }

  async setStatuses(list: AccountList, actor: string): Promise<void> {
    const wanted = new Map<string, AccountStatus>()
    for (const [name, status] of Object.entries(statuses) as [keyof AccountList, AccountStatus][])
      for (const id of list[name] ?? []) {
        if (wanted.has(id)) throw new Invalid(`Duplicate account ${id}`)
        wanted.set(id, status)
      }
    if ((wanted.get(actor) ?? 'Admin') !== 'Admin') throw new Invalid('You cannot remove your own admin status; another admin can')
    if (wanted.size > 1000) throw new Invalid('At most 1,000 accounts at once')
    const known = await this.#users.getMany([...wanted.keys()])
    if (known.size < wanted.size || [...known.values()].some(({ erasure }) => erasure)) throw new NotFound('user')
    for (const [id, status] of wanted) if (known.get(id)?.status !== status) await this.setStatus(id, status, actor)
    await this.#keepAnAdmin(
      [...wanted].filter(([id, status]) => status !== 'Admin' && known.get(id)?.status === 'Admin').map(([id]) => id),
      actor,
    )
  }

  /** Admins who demote each other concurrently would leave none: one who has lost the status meanwhile restores it for the others. */
  async #keepAnAdmin(demoted: readonly string[], actor: string): Promise<void> {
    if (demoted.length === 0 || (await this.#users.get(actor))?.status === 'Admin') return
    for (const id of demoted) await this.setStatus(id, 'Admin', actor)
    throw new Conflict('You are no longer a server admin; your changes were rolled back')
  }

  async setStatus(id: string, status: AccountStatus, actor?: string): Promise<void> {
    await this.#users.change(id, { set: { status } }, [event('user.updated', { kind: 'user', id }, { fields: ['status'], status }, actor)])
  }
}
wire(AccountAdministration, DocumentStore, Users)

/** A search for accounts by an admin. */
interface AccountSearch {
  readonly status?: AccountStatus
  /**
   * Substring of the email address, the first or the last name; with several words, each must match. One of them has at least three
   * characters.
   */
  readonly text?: string
}

const allStatuses: readonly AccountStatus[] = ['Active', 'Inactive', 'ReadOnly', 'Admin']

const searched = ['email', 'firstName', 'lastName'] as const

const pieces = ['byEmailPiece', 'byFirstNamePiece', 'byLastNamePiece'] as const

/** Maximum number of accounts read without a match before a page ends. */
const maxScanned = 2000

const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter(word => word !== '')

/** True for a text that an index can search for. */
export const isSearchable = (text: string): boolean => trigramsOf(text).length > 0

/** Finds accounts for admins. */
export class AccountDirectory {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** By id, which is oldest first. A page can be short, with a `next`. */
  page({ status, text = '' }: AccountSearch, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>> {
    const ofStatus = isIn('status', status === undefined ? allStatuses : [status])
    const longest = wordsOf(text).toSorted((a, b) => b.length - a.length)[0] ?? ''
    const [run] = trigramsOf(longest)
    if (run === undefined) return this.#documents.find(users, { using: 'byStatus', where: ofStatus, ...page })
    const found = or(...searched.map(field => isIn(`${field}~`, [run, overlongPiece])))
    const words = wordsOf(text).map((word): Where => or(...searched.map(field => contains(field, word))))
    return this.#documents.find(users, { using: pieces, where: and(found, ofStatus, ...words), maxScanned, ...page })
  }
}
wire(AccountDirectory, DocumentStore)
