import { pageOf } from './listing.ts'
import type { LifeState } from './model/kind.ts'
import type { Time } from './model/records.ts'
import type { Collection, DocumentStore, Find, Index, Page, Stored, Where } from './ports/document-store.ts'
import { and, eq, range } from './ports/document-store.ts'
import type { Clock, Log } from './ports/kernel.ts'
import * as s from './schema.ts'

/** Trash settings for a kind of resource such as `dataset`. Spread them into the plugin's config. */
export const trashSettings = (what: string) => ({
  useTrash: s.Boolean({ default: true, description: `Deleting a ${what} moves it to the trash; deleting it there is permanent` }),
  clearTrashAfterDays: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 100_000,
    description: `Days after which a ${what} in the trash is permanently deleted, checked every six hours; 0: never`,
  }),
})

/** How often expired trash is deleted. */
export const clearTrashEveryMs = 6 * 60 * 60 * 1000

interface Trashable {
  readonly author: string
  readonly state: LifeState
  readonly trashedAt: Time | null
}

/** The content of a trash and how to delete it. */
export interface TrashOf<T extends Trashable> {
  readonly documents: DocumentStore
  readonly clock: Clock
  readonly log: Log
  /** A collection with `trashIndexes`. */
  readonly from: Collection<T>
  /** Days after which content is deleted automatically; 0: never. */
  readonly days: number
  /** Permanently deletes a resource if it is in the trash at that moment; a restored one stays. */
  readonly remove: (id: string, actor: string | undefined) => Promise<void>
}

const dayMs = 86_400_000
/** The indexes of the trash only contain documents with `trashedAt`. */
const trashOf = (author: string): Where => and(eq('state', 'trashed'), eq('author', author), range('trashedAt', { gt: '' }))
const longestThere: NonNullable<Find['sort']> = { by: 'trashedAt', order: 'ascending' }

/** Indexes required for a collection with a trash. */
export const trashIndexes = {
  ownTrash: { on: ['state', 'author', 'trashedAt'], sparse: 'trashedAt' },
  byTrashedAt: { on: ['state', 'trashedAt'], sparse: 'trashedAt' },
} as const satisfies Readonly<Record<string, Index>>

/** The trash for one kind of resource. Call `clearOld` every `clearTrashEveryMs` to delete expired content. */
export class Trash<T extends Trashable> {
  #of: TrashOf<T>

  constructor(of: TrashOf<T>) {
    this.#of = of
  }

  /** A person's trash, oldest deletions first; at most 1,000, which is also the meaning of limit 0. */
  of(author: string, page: Parameters<typeof pageOf>[0]): Promise<Page<T & Stored>> {
    return this.#of.documents.find(this.#of.from, {
      using: 'ownTrash',
      where: trashOf(author),
      sort: longestThere,
      ...pageOf(page),
    })
  }

  /** Permanently deletes everything in a person's trash. */
  async empty(author: string): Promise<void> {
    await this.#removeAll('ownTrash', trashOf(author), author)
  }

  /** Permanently deletes what has been in anyone's trash for more than the given number of days, until aborted; resolves to the number of resources deleted. */
  clearOld(days: number, actor: string | undefined, signal?: AbortSignal): Promise<number> {
    const before = new Date(this.#of.clock.now().getTime() - days * dayMs).toISOString()
    return this.#removeAll('byTrashedAt', and(eq('state', 'trashed'), range('trashedAt', { lt: before })), actor, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { days, log, from } = this.#of
    if (days === 0) return
    const count = await this.clearOld(days, undefined, signal)
    if (count > 0) log.info('Expired trash deleted', { of: from.name, count, days })
  }

  async #removeAll(using: string, where: Where, actor: string | undefined, signal?: AbortSignal): Promise<number> {
    for (let count = 0; ; ) {
      const { items } = await this.#of.documents.find(this.#of.from, { using, where, sort: longestThere, limit: 200 })
      if (items.length === 0) return count
      for (const { id } of items) {
        if (signal?.aborted) return count
        await this.#of.remove(id, actor)
        count += 1
      }
    }
  }
}
