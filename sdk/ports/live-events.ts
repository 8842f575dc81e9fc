import type { AnyEvent, EventType } from '../events.ts'
import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { type Contributions, contributions, port } from '../port.ts'

/** An event as clients receive it: CloudEvents 1.0, JSON format. */
export interface CloudEvent {
  readonly specversion: '1.0'
  /** The same for repeated deliveries of one event. */
  readonly id: string
  /** `<kind>.<past participle>`: `dataset.created`, `file.deleted`, `extraction.progressed`. */
  readonly type: string
  /** The URL of the installation. */
  readonly source: string
  /** `<kind>/<id>`, such as `dataset/5f0c…`; sensors and streams by their numbers. */
  readonly subject: string
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string
  readonly datacontenttype: 'application/json'
  /** Ids, names, states and progress; a few hundred bytes at most. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A public event and the data that determines who receives it. */
export interface PublicEvent {
  readonly event: CloudEvent
  /** Its subject. */
  readonly subject: Ref
  /** The subject and its containers at that time: a file's datasets and folder, the target of a comment. */
  readonly about: readonly Ref[]
  /** Other direct containers of the subject, including former ones: `EventFilter.ids` matches them, but they grant no rights. */
  readonly places?: readonly Ref[]
  /** The spaces that the subject was in. */
  readonly spaces: readonly string[]
  /** Only this person, and server admins in superadmin mode, receive it; if absent, rights on `about` decide. */
  readonly recipient?: string
  /** The creator of the subject; null if unknown. */
  readonly author: string | null
  /** The acting user; null for the system. */
  readonly actor: string | null
}

/** Selects events. Absent members select everything; multiple values of a member are alternatives. */
export interface EventFilter {
  /** Kinds of the subject, or of the event (the first part of its type). */
  readonly kinds?: readonly string[]
  /** Ids in `PublicEvent.about` and `PublicEvent.places`; for sensors and streams their numbers. */
  readonly ids?: readonly string[]
  readonly spaces?: readonly string[]
  /** Types such as `dataset.created`; `dataset.*` matches all types of a kind. */
  readonly types?: readonly string[]
  /** Only resources created by the caller. */
  readonly mine?: boolean
}

/** Stored event types that are public. */
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

/** Public events: their content and recipients. */
export interface PublicEvents {
  /** All types by name, each with a one-sentence description; for documentation and for validating filters. */
  readonly types: Readonly<Record<string, string>>
  /** The public events for stored ones, in order; non-public ones are omitted. At most 200 stored events, one read per kind. */
  describe(events: readonly AnyEvent[]): Promise<readonly PublicEvent[]>
  /** Throws `Invalid` for unknown types and kinds. */
  check(filter: EventFilter): void
  /** Whether a filter matches an event; requires no rights and no reads. */
  matches(filter: EventFilter, event: PublicEvent, caller: Caller): boolean
  /**
   * The subset of events that the caller may receive now, in order, and that match the filter, if any: a filter matches only by resources and spaces that the
   * caller may view, so that it reveals nothing about others. One read per kind.
   */
  receivable(caller: Caller, events: readonly PublicEvent[], filter?: EventFilter): Promise<readonly PublicEvent[]>
}
export const PublicEvents = port<PublicEvents>('publicEvents')

/** Receives public events besides the live stream; for example webhooks. */
export interface PublicEventHandler {
  /** Called at least once for each stored event, in commit order per subject, and for the end of an activity unless the server crashes right after it; at most 200. Resolve when the events are durably handled; reject to be called again. */
  handle(events: readonly PublicEvent[]): Promise<void>
}
/** Plugins that receive public events. */
export const PublicEventHandlers = contributions<PublicEventHandler>('publicEventHandlers')

/** The progress of a long-running activity. */
export interface Progress {
  /** The event type is `<activity>.progressed`, and finally `<activity>.finished` or `<activity>.failed`. */
  readonly activity: 'extraction' | 'upload' | 'archive' | 'import' | 'bulk' | 'reindex'
  /** Unique among activities: the id of a run, an upload or a request. */
  readonly id: string
  /** The resource being worked on: everyone who may view it receives the events. Absent: only `actor` and server admins in superadmin mode. */
  readonly subject?: Ref
  /** User id of the requester; null for the system. */
  readonly actor: string | null
  readonly state: 'running' | 'finished' | 'failed'
  /** The amount done and the total, if known. */
  readonly done?: number
  readonly total?: number
  readonly unit?: 'bytes' | 'files' | 'resources' | 'documents'
  /** One line for display, such as the status of an extractor. */
  readonly message?: string
}

/** Receives progress reports for the live stream. They are not durable, and nothing may depend on them. */
export interface ProgressListener {
  /** Returns immediately and never throws. At most four reports per second and activity become events; the last one always does. */
  report(progress: Progress): void
}
/** Plugins that display progress; empty without the live stream. */
export const ProgressListeners = contributions<ProgressListener>('progressListeners')

/** Sends a progress report to all listeners. */
export const reportProgress = (listeners: Contributions<ProgressListener>, progress: Progress): void => {
  for (const listener of listeners.all()) listener.report(progress)
}

/** Sends short messages to all kernels of the installation, including this one: hints that may be lost or repeated. */
export interface Broadcaster {
  /** At most 4 kB. Resolves when the message was sent; `Unavailable` if that is not possible. */
  send(topic: string, message: string): Promise<void>
  /** Calls the listener for each message of a topic until the returned function is called. Reconnects automatically. */
  listen(topic: string, listener: (message: string) => void): () => void
}
/** Plugins that transmit messages between kernels, such as a broker. */
export const Broadcasters = contributions<Broadcaster>('broadcasters')
