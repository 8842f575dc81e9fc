import {
  type After,
  type AnyEvent,
  type BatchHandler,
  type CallerUser,
  Collections,
  Comments,
  CommitConflict,
  collection,
  Datasets,
  DocumentStore,
  eq,
  Files,
  isIn,
  or,
  type Page,
  port,
  type Ref,
  Spaces,
  type Stored,
  type Time,
  Users,
  type Where,
  wire,
} from 'pounce/sdk'
import { feedEntryOf } from './feed.ts'

/** A line of the activity feed; its id is that of the event. */
export interface ActivityRecord {
  readonly user: string
  readonly type: string
  readonly object: Ref | null
  readonly objectName: string
  readonly source: Ref | null
  readonly sourceName: string
  /** The person it concerns besides the one who acted. */
  readonly target: string | null
  readonly at: Time
}
export const activity = collection<ActivityRecord>('activity', {
  byUser: { on: ['user', 'at'] },
  byObject: { on: ['object.id', 'at'] },
  bySource: { on: ['source.id', 'at'] },
  byTarget: { on: ['target', 'at'] },
})

/** More things than this one does not follow in a feed: the newest followed count. */
const mostFollowed = 200

/** Writes the feed from what happens, and reads it for one person. */
export class StoredActivity implements BatchHandler {
  #documents: DocumentStore
  #users: Users
  #comments: Comments
  #named: Partial<Record<Ref['kind'], { getMany(ids: readonly string[]): Promise<ReadonlyMap<string, { readonly name: string }>> }>>

  constructor(
    documents: DocumentStore,
    users: Users,
    comments: Comments,
    spaces: Spaces,
    collections: Collections,
    datasets: Datasets,
    files: Files,
  ) {
    this.#documents = documents
    this.#users = users
    this.#comments = comments
    this.#named = { space: spaces, collection: collections, dataset: datasets, file: files }
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const inserts = []
    for (const event of events) {
      const entry = event.actor === undefined ? undefined : feedEntryOf(event)
      if (!entry || event.actor === undefined) continue
      const { type, object, source = null, target = null } = entry
      const objectName = entry.objectName ?? (await this.#nameOf(object))
      const record = { user: event.actor, type, object, objectName, source, sourceName: await this.#nameOf(source), target, at: event.at }
      inserts.push({ change: { insert: { id: event.id, ...record }, into: activity } })
    }
    if (inserts.length === 0) return
    for (const each of await this.#documents.commitEach(inserts)) {
      if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
    }
  }

  /** What the person did, what concerns them, and what happened to things and people they follow; newest first. */
  feedOf(
    { id, followed }: Pick<CallerUser, 'id'> & { readonly followed: readonly { readonly id: string }[] },
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<ActivityRecord & Stored>> {
    const ids = followed.slice(-mostFollowed).map(each => each.id)
    const any: Where[] = [eq('target', id), isIn('user', [id, ...ids]), isIn('object.id', [id, ...ids]), isIn('source.id', [id, ...ids])]
    return this.#documents.find(activity, {
      using: ['byUser', 'byObject', 'bySource', 'byTarget'],
      where: or(...any),
      sort: { by: 'at', order: 'descending' },
      ...page,
    })
  }

  async #nameOf(ref: Ref | null): Promise<string> {
    if (!ref) return ''
    if (ref.kind === 'user') {
      const user = await this.#users.get(ref.id)
      return user ? `${user.firstName} ${user.lastName}`.trim() : ''
    }
    if (ref.kind === 'comment') return (await this.#comments.get(ref.id))?.text ?? ''
    return (await this.#named[ref.kind]?.getMany([ref.id]))?.get(ref.id)?.name ?? ''
  }
}
wire(StoredActivity, DocumentStore, Users, Comments, Spaces, Collections, Datasets, Files)

export const Activity = port<StoredActivity>('activity.feed')
