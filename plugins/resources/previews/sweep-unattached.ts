import { and, Clock, type Collection, DocumentStore, eq, event, type Kind, range, removeFound, wire } from 'pounce/sdk'
import { previews, thumbnails, tiles } from './collections.ts'

const keptMs = 7 * 24 * 60 * 60 * 1000

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
    await removeFound(this.#documents, from, {
      using,
      where: old,
      sort: { by: 'created', order: 'ascending' },
      // Attached in the last moment: then it stays.
      guard: () => unattached,
      events: ({ id, blob }) => [event('preview.removed', { kind, id }, { blob, target: null })],
      signal,
    })
  }
}
wire(SweepUnattached, DocumentStore, Clock)
