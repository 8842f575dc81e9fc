import { and, Clock, type Collection, CommitConflict, DocumentStore, eq, event, type Kind, type Ref, range, wire } from 'pounce/sdk'
import { previews, thumbnails, tiles } from './collections.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000
const batch = 200

interface Derived {
  readonly blob: string
  readonly created: string
}

/** What was uploaded and is attached to nothing a week later was given up by whoever sent it. */
export class SweepUnattached {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sweep(previews as Collection<Derived>, 'preview', { using: 'byTarget', field: 'target.id' }, signal)
    await this.#sweep(thumbnails as Collection<Derived>, 'thumbnail', { using: 'byAge', field: 'target.id' }, signal)
    await this.#sweep(tiles as Collection<Derived>, 'preview', { using: 'byPreview', field: 'preview' }, signal)
  }

  async #sweep(
    from: Collection<Derived>,
    kind: Kind,
    { using, field }: { readonly using: string; readonly field: string },
    signal: AbortSignal,
  ): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - keptMs).toISOString()
    const unattached = eq(field, null)
    const old = and(unattached, range('created', { lt: before }))
    while (!signal.aborted) {
      const { items } = await this.#documents.find(from, { using, where: old, sort: { by: 'created', order: 'ascending' }, limit: batch })
      if (items.length === 0) return
      const outcome = await this.#documents.commitEach(
        items.map(({ id, blob }) => {
          const subject: Ref = { kind, id }
          // Attached in the last moment: then it stays.
          return {
            change: { tombstone: id, in: from, where: unattached },
            events: [event('preview.removed', subject, { blob, target: null })],
          }
        }),
      )
      for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
    }
  }
}
wire(SweepUnattached, DocumentStore, Clock)
