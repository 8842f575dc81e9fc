import {
  and,
  type Caller,
  configPort,
  DocumentStore,
  eq,
  isIn,
  isSuperAdmin,
  or,
  type Page,
  Policy,
  type Stored,
  type Where,
  wire,
} from 'pounce/sdk'
import { type ListPage, type ListQuery, listPage, type TreeParent, unionOf, type Visible, visibleOf } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { type StoredSpace, spaces } from './stored-spaces.ts'

const lists = ['byCreated', 'bySpace', 'byAuthor', 'byPublic']

/** Lists spaces. */
export class SpaceLists {
  #showsPublic: boolean
  #documents: DocumentStore
  #policy: Policy

  constructor({ enablePublic }: Settings, documents: DocumentStore, policy: Policy) {
    this.#showsPublic = enablePublic
    this.#documents = documents
    this.#policy = policy
  }

  /**
   * Spaces that concern the caller: public ones, own ones, and those viewable through a role. A server admin in superadmin mode gets all.
   */
  async visible(caller: Caller, query: ListQuery): Promise<ListPage<StoredSpace & Stored>> {
    return this.#page(this.#seen(caller), query, caller)
  }

  /** The same, at the root of the tree; `mine`: only those that the caller created. */
  async below(caller: Caller, { kind, mine }: TreeParent, query: ListQuery): Promise<Page<StoredSpace & Stored>> {
    if (kind !== 'root') return { items: [] }
    const own = mine ? [eq('author', caller.user?.id ?? null)] : []
    return this.#page(this.#seen(caller), query, caller, ...own)
  }

  /** Spaces where the caller may add resources, or that they may edit. */
  async editable(caller: Caller, query: ListQuery): Promise<Page<StoredSpace & Stored>> {
    const adding = this.#policy.visibleTo(caller, 'AddResourceToSpace')
    return this.#page(unionOf(adding, this.#policy.visibleTo(caller, 'EditSpace')), query, caller)
  }

  #seen(caller: Caller): Visible {
    const allowed = this.#policy.visibleTo(caller, 'ViewSpace')
    if (allowed === 'nothing' || isSuperAdmin(caller)) return allowed
    if (allowed === 'all') return this.#concerning(caller)
    return caller.user && !this.#showsPublic ? and(allowed, this.#concerning(caller)) : allowed
  }

  /** On a public server everyone may view every space; as in v1, the list is still limited to those that concern the caller. */
  #concerning({ user }: Caller): Where {
    const isPublic = eq('isPublic', true)
    if (!user) return isPublic
    const roles = user.memberships.filter(({ permissions }) => permissions.has('ViewSpace'))
    const seen = isIn(
      'spaces',
      roles.map(({ space }) => space),
    )
    return or(seen, eq('author', user.id), ...(this.#showsPublic ? [isPublic] : []))
  }

  async #page(visible: Visible, query: ListQuery, caller: Caller, ...where: readonly Where[]): Promise<ListPage<StoredSpace & Stored>> {
    const seen = visibleOf(caller, 'ViewSpace', query, visible)
    // A key without the verb `read` lists nothing, regardless of its other verbs.
    if (seen === 'nothing' || this.#seen(caller) === 'nothing') return { items: [] }
    return listPage({ documents: this.#documents, from: spaces, using: lists, where: [...where, ...seen] }, query)
  }
}
wire(SpaceLists, configPort(config), DocumentStore, Policy)
