import {
  Clock,
  type ContentCount,
  ContentCounts,
  type Contributions,
  containedIn,
  DocumentStore,
  Spaces,
  type StoredEvent,
  whichHold,
  wire,
} from 'pounce/sdk'
import { CollectionService } from './collection-service.ts'
import { CollectionTree } from './collection-tree.ts'
import { inSpace } from './handlers.ts'

/** Empty collections older than the time to live of their space leave it, and go to the trash when it is the only one. */
export class ExpireCollections {
  #documents: DocumentStore
  #spaces: Spaces
  #life: CollectionService
  #tree: CollectionTree
  #counts: Contributions<ContentCount>
  #clock: Clock

  constructor(
    documents: DocumentStore,
    spaces: Spaces,
    life: CollectionService,
    tree: CollectionTree,
    counts: Contributions<ContentCount>,
    clock: Clock,
  ) {
    this.#documents = documents
    this.#spaces = spaces
    this.#life = life
    this.#tree = tree
    this.#counts = counts
    this.#clock = clock
  }

  async handle({ subject: { id: space } }: StoredEvent<'space.expiry-due'>): Promise<void> {
    const record = await this.#spaces.get(space)
    if (!record?.isTimeToLiveEnabled) return
    const before = new Date(this.#clock.now().getTime() - record.timeToLiveMs).toISOString()
    for await (const { id, created, state, spaces } of containedIn(this.#documents, inSpace, space)) {
      if (state !== 'live' || created >= before) continue
      if ((await whichHold(this.#counts, 'collection', [id])).size > 0) continue
      if (spaces.length > 1) await this.#tree.leaveSpace(id, space)
      else await this.#life.discard(id, undefined)
    }
  }
}
wire(ExpireCollections, DocumentStore, Spaces, CollectionService, CollectionTree, ContentCounts, Clock)
