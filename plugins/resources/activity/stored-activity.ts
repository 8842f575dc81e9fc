import {
  type After,
  type AnyEvent,
  and,
  anonymousUserId,
  type BatchHandler,
  configPort,
  DocumentStore,
  eq,
  isIn,
  type Kind,
  ne,
  not,
  or,
  type Page,
  type Ref,
  type Stored,
  startsWith,
  type Where,
  wire,
} from 'pounce/sdk'
import { requireDone } from 'pounce/sdk/kit'
import type { Change } from 'pounce/sdk/store-kit'
import { config, type Settings } from './config.ts'
import { feedEntryOf, lastNameOf, renames } from './feed.ts'
import { type ActivityRecord, activity, FeedNames, type NamedResources } from './feed-names.ts'

type Line = ActivityRecord & { readonly id: string }

/** Maximum number of followed resources in a feed; the most recently followed are used. */
const maxFollowed = 200
const batchSize = 200

/** Earlier names of these are not kept: texts of comments are corrected, and people can have their names erased. */
const correctable: ReadonlySet<Kind> = new Set<Kind>(['comment', 'user'])

/** The user whose feed is read. */
export interface FeedReader {
  readonly id: string
  readonly followed: readonly { readonly id: string }[]
  /** Spaces in which they may read comments. */
  readonly spaces: readonly string[]
}

/** Writes the feed from events, and reads it for one user. */
export class StoredActivity implements BatchHandler {
  #areCommentsShown: boolean
  #documents: DocumentStore
  #feedNames: FeedNames

  constructor({ showCommentOnHomepage }: Settings, documents: DocumentStore, feedNames: FeedNames) {
    this.#areCommentsShown = showCommentOnHomepage
    this.#documents = documents
    this.#feedNames = feedNames
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const recorded = events.flatMap(event => {
      const entry = event.actor === undefined || event.actor === anonymousUserId ? undefined : feedEntryOf(event)
      return entry ? [{ event, entry, user: entry.user ?? (event.actor as string) }] : []
    })
    const lastNames = new Map(events.flatMap(event => pair(event.subject.id, lastNameOf(event))))
    const renamed = events.filter(renames).map(({ subject }) => subject)
    const named = recorded.flatMap(({ entry: { object, source, within = [] } }) => [object, source, ...within].filter(ref => ref != null))
    const resources = await this.#feedNames.of([...named, ...renamed])
    const names = await this.#namesOf(named, resources, lastNames)
    const lines: Line[] = []
    for (const { event, entry, user } of recorded) {
      const { type, object, source = null, target = null, within = [] } = entry
      // A file deleted with its dataset has no entry of its own, and a deleted comment has no text to show.
      if (type === 'delete_file' && within.length > 0 && !within.some(({ id }) => resources.has(id))) continue
      if (object?.kind === 'comment' && !resources.has(object.id)) continue
      const audience = object?.kind === 'comment' && source ? (resources.get(source.id)?.audience ?? []) : []
      const [objectName, sourceName] = [object ? (names.get(object.id) ?? '') : '', source ? (names.get(source.id) ?? '') : '']
      lines.push({ id: entry.id ?? event.id, user, type, object, objectName, source, sourceName, target, within, audience, at: event.at })
    }
    await this.add(lines)
    await this.#grow(recorded.flatMap(({ entry: { id, type } }) => (id === undefined ? [] : [{ id, type }])))
    for (const subject of renamed) await this.#rename(subject, resources.get(subject.id)?.name)
    await this.#nameGone(lastNames)
  }

  /** Adds entries; existing ones are unchanged. At most 1,000. */
  async add(lines: readonly Line[]): Promise<void> {
    await this.#each(lines.map(line => ({ change: { insert: line, into: activity } })))
  }

  async #grow(lines: readonly { readonly id: string; readonly type: string }[]): Promise<void> {
    await this.#each(lines.map(({ id, type }) => ({ change: { update: id, in: activity, where: ne('type', type), set: { type } } })))
  }

  /** Actions of the user, actions that affect them, and actions on resources and users they follow; newest first. */
  feedOf(
    { id, followed, spaces }: FeedReader,
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<ActivityRecord & Stored>> {
    const ids = [id, ...followed.slice(-maxFollowed).map(each => each.id)]
    const any: Where[] = [eq('target', id), isIn('user', ids), isIn('object.id', ids), isIn('source.id', ids)]
    if (this.#areCommentsShown) any.push(isIn('audience', [id, ...spaces.slice(0, maxFollowed)]))
    return this.#documents.find(activity, {
      using: ['byUser', 'byObject', 'bySource', 'byTarget', ...(this.#areCommentsShown ? (['byAudience'] as const) : [])],
      where: or(...any),
      sort: { by: 'at', order: 'descending' },
      ...page,
    })
  }

  /** Actions of one user, newest first; excludes actions on them by others. */
  actionsOf(person: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<ActivityRecord & Stored>> {
    const where = and(eq('user', person), not(startsWith('type', 'mention_')))
    return this.#documents.find(activity, { using: 'byUser', where, sort: { by: 'at', order: 'descending' }, ...page })
  }

  /** Current names; the last known names of deleted resources. */
  async #namesOf(refs: readonly Ref[], resources: NamedResources, gone: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const names = new Map([...gone, ...[...resources].map(([id, { name }]) => [id, name] as const)])
    const unknown = [...new Set(refs.map(({ id }) => id))].filter(id => !names.has(id))
    return new Map([...(await this.#feedNames.formerNames(unknown)), ...names])
  }

  /** Sets the name in all entries about a resource. Resumes after an earlier, interrupted attempt. */
  async #rename({ kind, id }: Ref, name: string | undefined): Promise<void> {
    if (name === undefined) return
    const keeps = (first: string | undefined, current: string) => !correctable.has(kind) && first === undefined && current !== ''
    const [object, source] = [and(eq('object.id', id), ne('objectName', name)), and(eq('source.id', id), ne('sourceName', name))]
    await this.#rewrite('byObject', object, ({ firstObjectName, objectName }) => ({
      objectName: name,
      ...(keeps(firstObjectName, objectName) ? { firstObjectName: objectName } : {}),
    }))
    await this.#rewrite('bySource', source, ({ firstSourceName, sourceName }) => ({
      sourceName: name,
      ...(keeps(firstSourceName, sourceName) ? { firstSourceName: sourceName } : {}),
    }))
  }

  /** Sets the last name of a deleted resource in entries that were written after its deletion. */
  async #nameGone(gone: ReadonlyMap<string, string>): Promise<void> {
    if (gone.size === 0) return
    const ids = [...gone.keys()]
    const last = (ref: Ref | null) => (ref && gone.get(ref.id)) ?? ''
    await this.#rewrite('byObject', and(isIn('object.id', ids), eq('objectName', '')), line => ({ objectName: last(line.object) }))
    await this.#rewrite('bySource', and(isIn('source.id', ids), eq('sourceName', '')), line => ({ sourceName: last(line.source) }))
  }

  async #rewrite(using: 'byObject' | 'bySource', where: Where, set: (line: ActivityRecord) => Partial<ActivityRecord>): Promise<void> {
    let some: { readonly change: Change<ActivityRecord> }[] = []
    for await (const line of this.#documents.scan(activity, { using, where })) {
      some.push({ change: { update: line.id, in: activity, where, set: set(line) } })
      if (some.length < batchSize) continue
      await this.#each(some)
      some = []
    }
    await this.#each(some)
  }

  /** A conflict means that an earlier attempt, or another kernel, has made the change. */
  async #each(items: readonly { readonly change: Change<ActivityRecord> }[]): Promise<void> {
    if (items.length === 0) return
    requireDone(await this.#documents.commitEach(items))
  }
}
wire(StoredActivity, configPort(config), DocumentStore, FeedNames)
const pair = <T>(key: string, value: T | undefined): (readonly [string, T])[] => (value === undefined ? [] : [[key, value]])
