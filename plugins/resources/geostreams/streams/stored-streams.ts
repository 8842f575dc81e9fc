import { type Caller, DocumentStore, isIn, type NewEvent, type Page, Policy, type Streams, type Update, type Where, wire } from 'pounce/sdk'
import { type GeoListing, type GeoListPage, geoNumberOf, type StreamChoice, type StreamRecord } from 'pounce/sdk/geo'
import { orNotFound } from 'pounce/sdk/kit'
import { type Stream, streams, withDerived } from '../collections.ts'
import { countGeo, type GeoSource, listGeo, seenBy } from '../listing.ts'
import { StreamChooser } from './chosen-streams.ts'

type Listing = GeoListing & { readonly sensors?: readonly string[] }

/** Streams in the document store. */
export class StoredStreams implements Streams {
  #documents: DocumentStore
  #policy: Policy
  #chooser: StreamChooser

  constructor(documents: DocumentStore, policy: Policy, chooser: StreamChooser) {
    this.#documents = documents
    this.#policy = policy
    this.#chooser = chooser
  }

  get(id: string): Promise<Stream | undefined> {
    return this.#documents.get(streams, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Stream>> {
    return this.#documents.getMany(streams, ids)
  }

  /** A new geometry replaces the old one as a whole. */
  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<Stream> {
    const derived = withDerived(update, { hasSource: false })
    return orNotFound('stream', this.#documents.commit({ ...update, ...derived, update: id, in: streams }, events))
  }

  /**
   * A stream's copy of its sensor's rights may lag, so the sensor's rights are checked again, and a stream whose sensor is deleted is
   * treated as missing.
   */
  async list(caller: Caller, query: Listing, page: GeoListPage): Promise<Page<Stream>> {
    const found = await listGeo(this.#source(caller, query), query, page)
    const above = [...new Set(found.items.map(({ sensor }) => sensor))]
    const seen = await this.#policy.allowed(caller, 'ViewGeoStream', 'sensor', above)
    return { ...found, items: found.items.filter(({ sensor }) => seen.has(sensor)) }
  }

  count(caller: Caller, query: Listing, upTo: number): Promise<number> {
    return countGeo(this.#source(caller, query), query, upTo)
  }

  async chosen(caller: Caller, choice: StreamChoice): Promise<readonly number[] | undefined> {
    const chosen = await this.#chooser.choose(caller, choice, (query, page) => this.list(caller, query, page))
    return chosen?.map(geoNumberOf)
  }

  #source(caller: Caller, { sensors }: Listing): GeoSource<StreamRecord> {
    const source = { documents: this.#documents, from: streams, visible: seenBy(this.#policy, caller) }
    return sensors ? { ...source, more: { where: isIn('sensor', sensors), byName: 'bySensor', byAge: 'ageBySensor' } } : source
  }
}
wire(StoredStreams, DocumentStore, Policy, StreamChooser)
