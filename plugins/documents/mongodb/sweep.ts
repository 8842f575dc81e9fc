import type { AnyEvent } from 'pounce/sdk'
import type { AcknowledgedEvents } from './acknowledged-events.ts'
import type { MongodbCatalog } from './mongodb-catalog.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import { idOf, type NewDelivery, type PendingDeliveries, subjectOf } from './pending-deliveries.ts'
import type { OutboxEvent, StoredRecord } from './record-format.ts'

/** Events older than this belong to a kernel that died, or to a commit whose result was lost. */
const ageMs = 20_000
const maxDocuments = 200

/** The records of an event for the consumers that have not acknowledged it. */
const deliveriesOf = ({ id, e, to }: OutboxEvent, acknowledged: ReadonlySet<string>): readonly NewDelivery[] => {
  if (e === '') return []
  const subject = subjectOf(JSON.parse(e) as AnyEvent)
  const waiting = to.filter(consumer => !acknowledged.has(idOf(id, consumer)))
  return waiting.map(consumer => ({ consumer, id, subject, text: e, tries: 0 }))
}

/** Moves stale events from documents to `_deliveries`, except those that this kernel holds (`isHeld`). Returns their number. */
export const sweep = async (
  tools: {
    readonly server: MongodbConnection
    readonly catalog: MongodbCatalog
    readonly deliveries: PendingDeliveries
    readonly acknowledged: AcknowledgedEvents
    readonly isHeld: (id: string) => boolean
  },
  now: number,
): Promise<number> => {
  let found = 0
  for (const name of tools.catalog.names) found += await sweepOne(tools, name, now - ageMs)
  return found
}

const sweepOne = async (
  { server, deliveries, acknowledged, isHeld }: Parameters<typeof sweep>[0],
  name: string,
  before: number,
): Promise<number> => {
  const collection = () => server.collection<StoredRecord>(name)
  const options = { projection: { ev: 1, gone: 1 }, sort: { 'ev.at': 1 as const }, limit: maxDocuments }
  const left = await server.use(() =>
    collection()
      .find({ 'ev.at': { $lte: before } }, options)
      .toArray(),
  )
  const events = left.flatMap(({ _id, ev }) => {
    // Events behind one that this kernel is about to deliver wait for it.
    const firstKept = ev.findIndex(({ id, at }) => at > before || isHeld(id))
    return (firstKept === -1 ? ev : ev.slice(0, firstKept)).map(event => ({ _id, event }))
  })
  if (events.length === 0) return 0
  const done = await acknowledged.all()
  await deliveries.add(events.flatMap(({ event }) => deliveriesOf(event, done)))
  const documents = [...new Set(events.map(({ _id }) => _id))]
  const pull = { $pull: { ev: { id: { $in: events.map(({ event }) => event.id) } } } }
  await server.use(() => collection().updateMany({ _id: { $in: documents } }, pull))
  const deleted = left.filter(one => one.gone).map(({ _id }) => _id)
  if (deleted.length > 0) await server.use(() => collection().deleteMany({ _id: { $in: deleted }, gone: true, ev: { $size: 0 } }))
  return events.length
}
