import { CommitConflict, collection, type DocumentStore, eq, type Ref, Taken, type Time } from 'pounce/sdk'

/** The former records: without the time of attachment, the order of creation was used. */
const thumbnails = collection<{ readonly target: Ref | null; readonly created: Time; readonly attached?: Time | null }>()('thumbnails')

interface Dated {
  readonly id: string
  readonly attached: Time
}

const batchSize = 500

const write = async (documents: DocumentStore, some: readonly Dated[]): Promise<void> => {
  let left = some
  while (left.length > 0) {
    const changes = left.map(
      ({ id, attached }) => ({ update: id, in: thumbnails, where: eq('attached', null), set: { attached } }) as const,
    )
    const outcome = await documents.commitEach(changes.map(change => ({ change })))
    const errors = outcome.map(each => (each.ok ? undefined : each.error))
    for (const error of errors) if (error && !(error instanceof Taken || error instanceof CommitConflict)) throw error
    left = left.filter((_, at) => errors[at] instanceof Taken).map(({ id, attached }) => ({ id, attached: later(attached) }))
  }
}

const later = (time: Time): Time => new Date(Date.parse(time) + 1).toISOString()

/** Adds the time of attachment to attached thumbnails: that of their creation. */
export const up = async (documents: DocumentStore): Promise<void> => {
  let some: Dated[] = []
  for await (const { id, target, created, attached } of documents.walk(thumbnails)) {
    if (target === null || attached) continue
    some.push({ id, attached: created })
    if (some.length < batchSize) continue
    await write(documents, some)
    some = []
  }
  await write(documents, some)
}
