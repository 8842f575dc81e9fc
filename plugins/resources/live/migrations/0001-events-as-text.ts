import { collection, type DocumentStore } from 'pounce/sdk'

/** The former segments, with their events as objects. */
const liveLog = collection<{ readonly events: string | readonly unknown[] }>()('live.log')

/** Stores the events of a segment as JSON text. */
export const up = async (documents: DocumentStore): Promise<void> => {
  for await (const { id, events } of documents.walk(liveLog))
    if (typeof events !== 'string') await documents.commit({ update: id, in: liveLog, set: { events: JSON.stringify(events) } })
}
