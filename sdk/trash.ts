import { pageOf } from './listing.ts'
import type { LifeState } from './model/kind.ts'
import type { Time } from './model/records.ts'
import type { Collection, DocumentStore, Find, Index, Page, Stored, Where } from './ports/document-store.ts'
import { and, eq, range } from './ports/document-store.ts'
import type { Clock, Log } from './ports/kernel.ts'
import * as s from './schema.ts'

/** Settings of a plugin whose resources, such as `dataset`, go to the trash before they are deleted. Spread into its config. */
export const trashSettings = (what: string) => ({
  useTrash: s.Boolean({ default: true, description: `Deleting a live ${what} moves it to the trash; deleting it there deletes it` }),
  clearTrashAfterDays: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 100_000,
    description: `Days after which a ${what} in the trash is deleted for good, looked at every six hours; 0: never`,
  }),
})

/** How often the trash of each kind is looked through. */
export const clearTrashEveryMs = 6 * 60 * 60 * 1000

interface Trashable {
  readonly author: string
  readonly state: LifeState
  readonly trashedAt: Time | null
}

/** What a trash holds, and how that is deleted. */
export interface TrashOf<T extends Trashable> {
  readonly documents: DocumentStore
  readonly clock: Clock
  readonly log: Log
  /** With `trashIndexes`. */
  readonly from: Collection<T>
  /** After how many days what is there goes by itself; 0: never. */
  readonly days: number
  /** Deletes for good what is in the trash at that moment; what has been restored stays. */
  readonly remove: (id: string, actor: string | undefined) => Promise<void>
}

const dayMs = 86_400_000
/** The indexes of the trash have entries of what has a time only. */
const trashOf = (author: string): Where => and(eq('state', 'trashed'), eq('author', author), range('trashedAt', { gt: '' }))
const longestThere: NonNullable<Find['sort']> = { by: 'trashedAt', order: 'ascending' }

/** The indexes that a collection with a trash has. */
export const trashIndexes = {
  ownTrash: { on: ['state', 'author', 'trashedAt'], sparse: 'trashedAt' },
  byTrashedAt: { on: ['state', 'trashedAt'], sparse: 'trashedAt' },
} as const satisfies Readonly<Record<string, Index>>

/** Where resources of one kind wait before they are deleted for good. Run every `clearTrashEveryMs` it deletes what has been there for too long. */
export class Trash<T extends Trashable> {
  #of: TrashOf<T>

  constructor(of: TrashOf<T>) {
    this.#of = of
  }

  /** A person's trash, the longest there first; at most 1,000, which a limit of 0 stands for. */
  of(author: string, page: Parameters<typeof pageOf>[0]): Promise<Page<T & Stored>> {
    return this.#of.documents.find(this.#of.from, {
      using: 'ownTrash',
      where: trashOf(author),
      sort: longestThere,
      ...pageOf(page),
    })
  }

  /** Deletes all that a person has in the trash. */
  async empty(author: string): Promise<void> {
    await this.#removeAll('ownTrash', trashOf(author), author)
  }

  /** Deletes what has been in anyone's trash for more than so many days, until it is aborted; resolves to their number. */
  clearOld(days: number, actor: string | undefined, signal?: AbortSignal): Promise<number> {
    const before = new Date(this.#of.clock.now().getTime() - days * dayMs).toISOString()
    return this.#removeAll('byTrashedAt', and(eq('state', 'trashed'), range('trashedAt', { lt: before })), actor, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { days, log, from } = this.#of
    if (days === 0) return
    const count = await this.clearOld(days, undefined, signal)
    if (count > 0) log.info('expired trash deleted', { of: from.name, count, days })
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
