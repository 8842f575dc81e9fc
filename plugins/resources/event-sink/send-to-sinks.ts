import { type AnyEvent, type BatchHandler, type Contributions, Datasets, type EventSink, EventSinks, Files, Users, wire } from 'pounce/sdk'
import { type SinkFacts, sinkRecordsOf, subjectsOf } from './sink-records.ts'

const batch = 1000

/** Publishes the records of what happens to every sink. A sink that is unavailable has the whole batch sent again, to all of them. */
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
