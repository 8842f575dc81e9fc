import type { AnyEvent, EventType } from '../events.ts'
import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { type Contributions, contributions, port } from '../port.ts'

/** An event as clients receive it: CloudEvents 1.0, JSON format. */
export interface CloudEvent {
  readonly specversion: '1.0'
  /** Equal for repeats of one event. */
  readonly id: string
  /** `<kind>.<past participle>`: `dataset.created`, `file.deleted`, `extraction.progressed`. */
  readonly type: string
  /** The address of the installation. */
  readonly source: string
  /** `<kind>/<id>`, such as `dataset/5f0c…`; sensors and streams by their numbers. */
  readonly subject: string
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string
  readonly datacontenttype: 'application/json'
  /** Ids, names, states and progress; at most a few hundred bytes. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A public event with what decides who receives it. */
export interface PublicEvent {
  readonly event: CloudEvent
  /** Its subject. */
  readonly subject: Ref
  /** What it is about: the subject, and what the subject was in then: a file's datasets and folder, the target of a comment. */
  readonly about: readonly Ref[]
  /** What the subject was right in besides, or has left: `EventFilter.ids` selects by it, rights do not follow from it. */
  readonly places?: readonly Ref[]
  /** The spaces that the subject was in. */
  readonly spaces: readonly string[]
  /** Only this person receives it, and server admins in superadmin mode; absent where rights on `about` decide. */
  readonly recipient?: string
  /** Who made the subject; null when unknown. */
  readonly author: string | null
  /** Who acted; null for the system. */
  readonly actor: string | null
}

/** A selection of events. Absent members select everything; several values of a member are alternatives. */
export interface EventFilter {
  /** Kinds of the subject, or of the event: the first part of its type. */
  readonly kinds?: readonly string[]
  /** Ids among `PublicEvent.about` and `PublicEvent.places`; of sensors and streams their numbers. */
  readonly ids?: readonly string[]
  readonly spaces?: readonly string[]
  /** Types such as `dataset.created`; `dataset.*` is every type of a kind. */
  readonly types?: readonly string[]
  /** Only resources that the caller made. */
  readonly mine?: boolean
}

/** The stored events that are public. */
export const publicEventTypes = [
  'space.created',
  'space.updated',
  'space.verified',
  'space.member-changed',
  'space.removed',
  'collection.created',
  'collection.updated',
  'collection.attached',
  'collection.detached',
  'collection.trashed',
  'collection.restored',
  'collection.removed',
  'dataset.created',
  'dataset.updated',
  'dataset.attached',
  'dataset.detached',
  'dataset.trashed',
  'dataset.restored',
  'dataset.removed',
  'folder.created',
  'folder.updated',
  'folder.moved',
  'folder.removed',
  'file.created',
  'file.updated',
  'file.attached',
  'file.moved',
  'file.detached',
  'file.archived',
  'file.unarchived',
  'file.removed',
  'metadata.added',
  'metadata.removed',
  'tags.added',
  'tags.removed',
  'comment.added',
  'comment.updated',
  'comment.removed',
  'preview.attached',
  'preview.removed',
  'thumbnail.attached',
  'section.created',
  'section.updated',
  'section.removed',
  'extraction.submitted',
  'extraction.status',
  'sensor.created',
  'sensor.updated',
  'sensor.removed',
  'stream.created',
  'stream.updated',
  'stream.removed',
  'stream.datapoints-added',
  'stream.datapoints-removed',
  'user.updated',
  'notification.created',
] as const satisfies readonly EventType[]

/** Public events: what they say, and who may receive them. */
export interface PublicEvents {
  /** Every type, by name, with a sentence on each: for documentation and for checking filters. */
  readonly types: Readonly<Record<string, string>>
  /** The public events of stored ones, in their order; none for those that are not public. At most 200 stored events, one read per kind. */
  describe(events: readonly AnyEvent[]): Promise<readonly PublicEvent[]>
  /** Throws `Invalid` for types and kinds that no event has. */
  check(filter: EventFilter): void
  /** Whether a filter selects an event; needs no rights and no reads. */
  matches(filter: EventFilter, event: PublicEvent, caller: Caller): boolean
  /**
   * Those of some events that the caller may receive now, in their order. With a filter that they match: only where it matches by resources and spaces
   * that the caller may view, so that it reveals nothing about others. One read per kind.
   */
  receivable(caller: Caller, events: readonly PublicEvent[], filter?: EventFilter): Promise<readonly PublicEvent[]>
}
export const PublicEvents = port<PublicEvents>('publicEvents')

/** Takes public events besides the live stream, such as webhooks. */
export interface PublicEventHandler {
  /** At least once each, in commit order per subject; at most 200. Durable when it resolves; rejects to be called again. */
  handle(events: readonly PublicEvent[]): Promise<void>
}
/** Plugins that take public events. */
export const PublicEventHandlers = contributions<PublicEventHandler>('publicEventHandlers')

/** How far an activity that takes a while is. */
export interface Progress {
  /** The type of the events is `<activity>.progressed`, and of the last one `<activity>.finished` or `<activity>.failed`. */
  readonly activity: 'extraction' | 'upload' | 'archive' | 'import' | 'bulk' | 'reindex'
  /** Unique among activities: the id of a run, an upload, a request. */
  readonly id: string
  /** What it works on: who may view that receives the events. Absent: only `actor`, and server admins in superadmin mode. */
  readonly subject?: Ref
  /** User id of who requested it; null for the system. */
  readonly actor: string | null
  readonly state: 'running' | 'finished' | 'failed'
  /** How much is done and how much there is to do, as far as it is known. */
  readonly done?: number
  readonly total?: number
  readonly unit?: 'bytes' | 'files' | 'resources' | 'documents'
  /** One line for a person, such as the status of an extractor. */
  readonly message?: string
}

/** Receives the progress of activities for the live stream. Nothing is durable, and nothing may depend on it. */
export interface ProgressListener {
  /** Returns at once and never throws. Of one activity at most four reports a second become events; the last one always does. */
  report(progress: Progress): void
}
/** Plugins that show progress. None without the live stream. */
export const ProgressListeners = contributions<ProgressListener>('progressListeners')

/** Reports progress to all who show it. */
export const reportProgress = (listeners: Contributions<ProgressListener>, progress: Progress): void => {
  for (const listener of listeners.all()) listener.report(progress)
}

/** Sends short messages to all kernels of the installation, this one included: hints that may be lost or repeated. */
export interface Broadcaster {
  /** At most 4 kB. Resolves when the message was sent; `Unavailable` while that is not possible. */
  send(topic: string, message: string): Promise<void>
  /** Calls back with each message of a topic until the function that it returns is called. Reconnects by itself. */
  listen(topic: string, listener: (message: string) => void): () => void
}
/** Plugins that send messages between kernels, such as a broker. */
export const Broadcasters = contributions<Broadcaster>('broadcasters')
