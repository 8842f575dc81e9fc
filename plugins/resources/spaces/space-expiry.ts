import { and, Clock, CommitConflict, DocumentStore, eq, event, wire } from 'pounce/sdk'
import { spaces } from './collection.ts'

/** Says of each space with a time to live that what is older should go; the plugins that own such things react. */
export class SpaceExpiry {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const isOn = eq('isTimeToLiveEnabled', true)
    const where = and(eq('state', 'live'), isOn)
    for await (const { id } of this.#documents.scan(spaces, { using: 'byTimeToLive', where })) {
      if (signal.aborted) return
      const set = { expiryAt: this.#clock.now().toISOString() }
      try {
        await this.#documents.commit({ update: id, in: spaces, where: isOn, set }, [event('space.expiry-due', { kind: 'space', id }, {})])
      } catch (error) {
        // It was switched off, or the space went, at the same moment.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(SpaceExpiry, DocumentStore, Clock)
