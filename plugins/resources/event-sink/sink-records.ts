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
interface SinkFacts {
  readonly files: ReadonlyMap<string, FileRecord>
  readonly datasets: ReadonlyMap<string, DatasetRecord>
  readonly users: ReadonlyMap<string, UserRecord>
}

type Fields = Readonly<Record<string, string | number>>

type Formatters = { readonly [T in EventType]?: (event: StoredEvent<T>, facts: SinkFacts) => readonly Fields[] }

/** Clowder 1.x, User.anonymous. */
const anonymousName = 'Anonymous User'

const nameOf = (id: string, { users }: SinkFacts): string => {
  const user = users.get(id)
  return user ? fullNameOf(user) : id === anonymousUserId ? anonymousName : ''
}

const personOf = (id: string, facts: SinkFacts): Fields => ({ user_id: id, user_name: nameOf(id, facts) })

const actorOf = ({ actor = anonymousUserId }: AnyEvent | StoredEvent, facts: SinkFacts): Fields => personOf(actor, facts)

const authorOf = (author: string, facts: SinkFacts): Fields => ({ author_id: author, author_name: nameOf(author, facts) })

/** The resource and its owner. */
const resourceOf = ({ kind, id }: Ref, facts: SinkFacts): Fields => {
  const record = kind === 'file' ? facts.files.get(id) : facts.datasets.get(id)
  return { resource_id: id, resource_name: record?.name ?? '', ...authorOf(record?.author ?? anonymousUserId, facts) }
}

const visit =
  (type: string) =>
  ({ subject }: StoredEvent, facts: SinkFacts): readonly Fields[] => [{ category: 'user_activity', type, ...personOf(subject.id, facts) }]

const stored =
  (category: string) =>
  (event: StoredEvent<'file.archived' | 'file.unarchived'>, facts: SinkFacts): readonly Fields[] => [
    { category, type: 'file', ...resourceOf(event.subject, facts), ...actorOf(event, facts), size: event.data.sizeBytes },
  ]

const uploaded = (event: StoredEvent<'file.created'>, facts: SinkFacts): readonly Fields[] => {
  const { dataset, sizeBytes, isImported } = event.data
  if (isImported) return []
  const within = dataset === null ? undefined : facts.datasets.get(dataset)
  const place: Fields =
    dataset === null ? {} : { dataset_id: dataset, dataset_name: within?.name ?? '', ...authorOf(within?.author ?? anonymousUserId, facts) }
  const resource_name = facts.files.get(event.subject.id)?.name ?? ''
  return [{ category: 'upload', ...actorOf(event, facts), resource_name, size: sizeBytes, ...place }]
}

/**
 * Clowder 1.x sends one record for a tracked download and one for a download of the whole file; a download that is both creates two
 * records.
 */
const downloaded = (event: StoredEvent<'file.downloaded'>, facts: SinkFacts): readonly Fields[] => {
  const { sizeBytes, isTracked, isWhole } = event.data
  const record = { category: 'download', type: 'file', ...resourceOf(event.subject, facts), ...actorOf(event, facts), size: sizeBytes }
  return [...(isTracked ? [record] : []), ...(isWhole ? [record] : [])]
}

const formatters: Formatters = {
  'user.created': visit('signup'),
  'user.signed-in': visit('login'),
  'file.created': uploaded,
  'file.downloaded': downloaded,
  'dataset.downloaded': (event, facts) => [
    { category: 'download', type: 'dataset', ...resourceOf(event.subject, facts), ...actorOf(event, facts), size: event.data.entries },
  ],
  'extraction.submitted': (event, facts) => {
    const { target, extractor, trigger } = event.data
    if (trigger !== 'manual') return []
    return [
      { category: 'extraction', type: target.kind, extractor_name: extractor, ...resourceOf(target, facts), ...actorOf(event, facts) },
    ]
  },
  'dataset.archival-queued': (event, facts) => {
    const { operation, files } = event.data
    return [{ category: operation, type: 'dataset', ...resourceOf(event.subject, facts), ...actorOf(event, facts), size: files }]
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
const sinkRecordsOf = (event: AnyEvent, facts: SinkFacts): readonly SinkRecord[] => {
  const formatter = formatters[event.type] as ((event: AnyEvent, facts: SinkFacts) => readonly Fields[]) | undefined
  const created = Date.parse(event.at)
  return (formatter?.(event, facts) ?? []).map(fields => ({ ...fields, created }) as SinkRecord)
}

const batch = 1000

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
    const facts = await this.#factsOf(events)
    const records = events.flatMap(event => sinkRecordsOf(event, facts))
    for (const sink of sinks) {
      for (let at = 0; at < records.length; at += batch) await sink.publish(records.slice(at, at + batch))
    }
  }

  async #factsOf(events: readonly AnyEvent[]): Promise<SinkFacts> {
    const subjects = events.flatMap(subjectsOf)
    const ids = (kind: string) => [...new Set(subjects.filter(subject => subject.kind === kind).map(({ id }) => id))]
    const [files, datasets] = await Promise.all([this.#files.getMany(ids('file')), this.#datasets.getMany(ids('dataset'))])
    const authors = [...files.values(), ...datasets.values()].map(({ author }) => author)
    const actors = events.flatMap(({ actor }) => actor ?? [])
    return { files, datasets, users: await this.#users.getMany([...new Set([...authors, ...actors, ...ids('user')])]) }
  }
}
wire(SendToSinks, EventSinks, Files, Datasets, Users)
