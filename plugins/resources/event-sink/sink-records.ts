import {
  type AnyEvent,
  anonymousUserId,
  type BatchHandler,
  type Contributions,
  type DatasetRecord,
  Datasets,
  type EventSink,
  EventSinks,
  type EventType,
  type FileRecord,
  Files,
  type Ref,
  type StoredEvent,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, type SinkRecord } from 'pounce/sdk/kit'

/** The current state of the resources that records refer to; deleted ones are absent. */
interface ReferencedRecords {
  readonly files: ReadonlyMap<string, FileRecord>
  readonly datasets: ReadonlyMap<string, DatasetRecord>
  readonly users: ReadonlyMap<string, UserRecord>
}

type Fields = Readonly<Record<string, string | number>>

type Formatters = { readonly [T in EventType]?: (event: StoredEvent<T>, referenced: ReferencedRecords) => readonly Fields[] }

/** Clowder 1.x, User.anonymous. */
const anonymousName = 'Anonymous User'

const nameOf = (id: string, { users }: ReferencedRecords): string => {
  const user = users.get(id)
  return user ? fullNameOf(user) : id === anonymousUserId ? anonymousName : ''
}

const personOf = (id: string, referenced: ReferencedRecords): Fields => ({ user_id: id, user_name: nameOf(id, referenced) })

const actorOf = ({ actor = anonymousUserId }: AnyEvent | StoredEvent, referenced: ReferencedRecords): Fields => personOf(actor, referenced)

const authorOf = (author: string, referenced: ReferencedRecords): Fields => ({ author_id: author, author_name: nameOf(author, referenced) })

/** The resource and its owner. */
const resourceOf = ({ kind, id }: Ref, referenced: ReferencedRecords): Fields => {
  const record = kind === 'file' ? referenced.files.get(id) : referenced.datasets.get(id)
  return { resource_id: id, resource_name: record?.name ?? '', ...authorOf(record?.author ?? anonymousUserId, referenced) }
}

const visit =
  (type: string) =>
  ({ subject }: StoredEvent, referenced: ReferencedRecords): readonly Fields[] => [
    { category: 'user_activity', type, ...personOf(subject.id, referenced) },
  ]

const stored =
  (category: string) =>
  (event: StoredEvent<'file.archived' | 'file.unarchived'>, referenced: ReferencedRecords): readonly Fields[] => [
    { category, type: 'file', ...resourceOf(event.subject, referenced), ...actorOf(event, referenced), size: event.data.sizeBytes },
  ]

const uploaded = (event: StoredEvent<'file.created'>, referenced: ReferencedRecords): readonly Fields[] => {
  const { dataset, sizeBytes, isImported } = event.data
  if (isImported) return []
  const within = dataset === null ? undefined : referenced.datasets.get(dataset)
  const place: Fields =
    dataset === null
      ? {}
      : { dataset_id: dataset, dataset_name: within?.name ?? '', ...authorOf(within?.author ?? anonymousUserId, referenced) }
  const resource_name = referenced.files.get(event.subject.id)?.name ?? ''
  return [{ category: 'upload', ...actorOf(event, referenced), resource_name, size: sizeBytes, ...place }]
}

/**
 * Clowder 1.x sends one record for a tracked download and one for a download of the whole file; a download that is both creates two
 * records.
 */
const downloaded = (event: StoredEvent<'file.downloaded'>, referenced: ReferencedRecords): readonly Fields[] => {
  const { sizeBytes, isTracked, isWhole } = event.data
  const record = {
    category: 'download',
    type: 'file',
    ...resourceOf(event.subject, referenced),
    ...actorOf(event, referenced),
    size: sizeBytes,
  }
  return [...(isTracked ? [record] : []), ...(isWhole ? [record] : [])]
}

const formatters: Formatters = {
  'user.created': visit('signup'),
  'user.signed-in': visit('login'),
  'file.created': uploaded,
  'file.downloaded': downloaded,
  'dataset.downloaded': (event, referenced) => [
    {
      category: 'download',
      type: 'dataset',
      ...resourceOf(event.subject, referenced),
      ...actorOf(event, referenced),
      size: event.data.entries,
    },
  ],
  'extraction.submitted': (event, referenced) => {
    const { target, extractor, trigger } = event.data
    if (trigger !== 'manual') return []
    return [
      {
        category: 'extraction',
        type: target.kind,
        extractor_name: extractor,
        ...resourceOf(target, referenced),
        ...actorOf(event, referenced),
      },
    ]
  },
  'dataset.archival-queued': (event, referenced) => {
    const { operation, files } = event.data
    return [{ category: operation, type: 'dataset', ...resourceOf(event.subject, referenced), ...actorOf(event, referenced), size: files }]
  },
  'file.archived': stored('archive'),
  'file.unarchived': stored('unarchive'),
}

/** The event types that create records. */
export const sinkEvents = Object.keys(formatters) as readonly EventType[]

/** Resources that the records of an event refer to: its subject, its dataset, the target of a run. */
const subjectsOf = (event: AnyEvent): readonly Ref[] => {
  if (event.type === 'file.created')
    return event.data.dataset === null ? [event.subject] : [event.subject, { kind: 'dataset', id: event.data.dataset }]
  return event.type === 'extraction.submitted' ? [event.data.target] : [event.subject]
}

/** The records of an event, with v1's fields (reference, extraction §6.4). */
const sinkRecordsOf = (event: AnyEvent, referenced: ReferencedRecords): readonly SinkRecord[] => {
  const formatter = formatters[event.type] as ((event: AnyEvent, referenced: ReferencedRecords) => readonly Fields[]) | undefined
  const created = Date.parse(event.at)
  return (formatter?.(event, referenced) ?? []).map(fields => ({ ...fields, created }) as SinkRecord)
}

const batchSize = 1000

/** Publishes the records of events to every sink. If a sink is unavailable, the whole batch is sent again to all of them. */
export class SendToSinks implements BatchHandler {
  #sinks: Contributions<EventSink>
  #files: Files
  #datasets: Datasets
  #users: Users

  constructor(sinks: Contributions<EventSink>, files: Files, datasets: Datasets, users: Users) {
    this.#sinks = sinks
    this.#files = files
    this.#datasets = datasets
    this.#users = users
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const sinks = this.#sinks.all()
    if (sinks.length === 0) return
    const referenced = await this.#referencedBy(events)
    const records = events.flatMap(event => sinkRecordsOf(event, referenced))
    for (const sink of sinks) {
      for (let at = 0; at < records.length; at += batchSize) await sink.publish(records.slice(at, at + batchSize))
    }
  }

  async #referencedBy(events: readonly AnyEvent[]): Promise<ReferencedRecords> {
    const subjects = events.flatMap(subjectsOf)
    const ids = (kind: string) => [...new Set(subjects.filter(subject => subject.kind === kind).map(({ id }) => id))]
    const [files, datasets] = await Promise.all([this.#files.getMany(ids('file')), this.#datasets.getMany(ids('dataset'))])
    const authors = [...files.values(), ...datasets.values()].map(({ author }) => author)
    const actors = events.flatMap(({ actor }) => actor ?? [])
    return { files, datasets, users: await this.#users.getMany([...new Set([...authors, ...actors, ...ids('user')])]) }
  }
}
wire(SendToSinks, EventSinks, Files, Datasets, Users)
