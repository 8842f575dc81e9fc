import { collection, type DocumentStore } from 'pounce/sdk'

/** As segments were before: with their events as objects. */
const liveLog = collection<{ readonly events: string | readonly unknown[] }>()('live.log')

/** A segment holds its events as JSON text. */
export const up = async (documents: DocumentStore): Promise<void> => {
  for await (const { id, events } of documents.walk(liveLog))
    if (typeof events !== 'string') await documents.commit({ update: id, in: liveLog, set: { events: JSON.stringify(events) } })
}
