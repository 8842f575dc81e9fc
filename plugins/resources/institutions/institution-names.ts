import { createHash } from 'node:crypto'
import {
  type After,
  type Collection,
  CommitConflict,
  collection,
  DocumentStore,
  Invalid,
  type Page,
  type PickLists,
  type Stored,
  wire,
} from 'pounce/sdk'

/** A name that users can select for their profile. Its id is a digest of the name in lower case, so that each name exists once. */
interface Named {
  readonly name: string
}

export const institutions = collection<Named>()('institutions', { byName: { on: ['name'] } })

export const projects = collection<Named>()('projects', { byName: { on: ['name'] } })

const lists = { institutions, projects } as const

const maxNames = 10_000

const idOf = (name: string): string => createHash('sha256').update(name.toLowerCase()).digest('hex').slice(0, 24)

const plain = (name: string): string => name.normalize('NFC').replace(/\s+/gu, ' ').trim()

/** The names of institutions and projects, each once regardless of case. */
export class InstitutionNames implements PickLists {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** An existing name is not an error. */
  async add(list: keyof typeof lists, given: string): Promise<void> {
    const name = plain(given)
    if (name === '') throw new Invalid('The name must not be blank')
    const into: Collection<Named> = lists[list]
    const count = await this.#documents.count(into, { using: 'byName', upTo: maxNames })
    if (count >= maxNames) throw new Invalid(`Maximum of ${maxNames} names reached`)
    try {
      await this.#documents.commit({ insert: { id: idOf(name), name }, into })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }

  async known(list: keyof typeof lists, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const from: Collection<Named> = lists[list]
    const found = await this.#documents.getMany(from, [...new Set(names.map(name => idOf(plain(name))))])
    return new Map(
      names.flatMap(name => {
        const entry = found.get(idOf(plain(name)))
        return entry ? [[name, entry.name] as const] : []
      }),
    )
  }

  /** In alphabetical order. */
  page(list: keyof typeof lists, page: { readonly after?: After; readonly limit: number }): Promise<Page<Named & Stored>> {
    return this.#documents.find(lists[list], { using: 'byName', sort: { by: 'name', order: 'ascending' }, ...page })
  }
}
wire(InstitutionNames, DocumentStore)
