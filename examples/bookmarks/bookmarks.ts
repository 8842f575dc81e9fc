import { Clock, CommitConflict, collection, configPort, DocumentStore, eq, event, Invalid, type StoredEvent, s, wire } from 'pounce/sdk'

declare module 'pounce/sdk' {
  interface EventMap {
    'bookmark.set': { readonly by: string }
  }
}

export const config = s.Object({
  most: s.Integer({ default: 100, minimum: 1, maximum: 1000, description: 'Maximum number of bookmarks per person' }),
})
const Config = configPort(config)

interface Bookmark {
  readonly user: string
  readonly file: string
  readonly set: string
}

/** One index per query: the bookmarks of a user, newest last, and the bookmarks of a file. */
export const bookmarks = collection<Bookmark>()('example.bookmarks', { byUser: { on: ['user', 'set'] }, byFile: { on: ['file'] } })

/** Stores bookmarks in the document store. */
export class Bookmarks {
  readonly #most: number
  readonly #documents: DocumentStore
  readonly #clock: Clock

  constructor({ most }: s.Static<typeof config>, documents: DocumentStore, clock: Clock) {
    this.#most = most
    this.#documents = documents
    this.#clock = clock
  }

  /** Idempotent. */
  async add(user: string, file: string): Promise<void> {
    // The id is derived from user and file, so there can be only one bookmark for both.
    const id = `${user}-${file}`
    if (await this.#documents.get(bookmarks, id)) return
    if ((await this.of(user)).length >= this.#most)
      throw new Invalid(`Maximum of ${this.#most} bookmarks per user reached; remove some first`)
    try {
      await this.#documents.commit({ insert: { id, user, file, set: this.#clock.now().toISOString() }, into: bookmarks }, [
        event('bookmark.set', { kind: 'file', id: file }, { by: user }),
      ])
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }

  /** Ids of files, in the order in which they were bookmarked. */
  async of(user: string): Promise<readonly string[]> {
    const { items } = await this.#documents.find(bookmarks, {
      using: 'byUser',
      where: eq('user', user),
      sort: { by: 'set', order: 'ascending' },
      limit: this.#most,
    })
    return items.map(({ file }) => file)
  }
}
wire(Bookmarks, Config, DocumentStore, Clock)

/** Deletes bookmarks with their file. Called at least once for each deleted file, so it must be idempotent. */
export class ForgetFile {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject }: StoredEvent<'file.removed'>): Promise<void> {
    for await (const { id } of this.#documents.scan(bookmarks, { using: 'byFile', where: eq('file', subject.id) }))
      await this.#documents.commitEach([{ change: { tombstone: id, in: bookmarks } }])
  }
}
wire(ForgetFile, DocumentStore)
