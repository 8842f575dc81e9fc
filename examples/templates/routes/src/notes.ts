import { collection, configPort, DocumentStore, eq, Ids, Invalid, s, wire } from 'pounce/sdk'

export const config = s.Object({
  most: s.Integer({ default: 100, minimum: 1, maximum: 1000, description: 'Maximum number of notes per person' }),
})
const Config = configPort(config)

interface Note {
  readonly user: string
  readonly text: string
}

/** Each query needs an index: here the notes of a user by id and therefore by time. */
export const notes = collection<Note>('example.template', { byUser: { on: ['user', 'id'] } })

/** Stores notes in the document store. */
export class Notes {
  readonly #most: number
  readonly #documents: DocumentStore
  readonly #ids: Ids

  constructor({ most }: s.Static<typeof config>, documents: DocumentStore, ids: Ids) {
    this.#most = most
    this.#documents = documents
    this.#ids = ids
  }

  async add(user: string, text: string): Promise<string> {
    if ((await this.of(user)).length >= this.#most) throw new Invalid(`Maximum of ${this.#most} notes per person reached`)
    const id = this.#ids.next()
    await this.#documents.commit({ insert: { id, user, text }, into: notes })
    return id
  }

  /** Oldest first. */
  async of(user: string): Promise<readonly { readonly id: string; readonly text: string }[]> {
    const { items } = await this.#documents.find(notes, {
      using: 'byUser',
      where: eq('user', user),
      sort: { by: 'id', order: 'ascending' },
      limit: this.#most,
    })
    return items.map(({ id, text }) => ({ id, text }))
  }
}
wire(Notes, Config, DocumentStore, Ids)
