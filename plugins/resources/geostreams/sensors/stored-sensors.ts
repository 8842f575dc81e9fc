import { type Caller, DocumentStore, type NewEvent, type Page, Policy, type Sensors, type Update, type Where, wire } from 'pounce/sdk'
import type { GeoListing, GeoListPage, SensorRecord } from 'pounce/sdk/geo'
import { orNotFound } from 'pounce/sdk/kit'
import { type Sensor, sensors, withDerived } from '../collections.ts'
import { countGeo, type GeoSource, listGeo, seenBy } from '../listing.ts'

/** Sensors in the document store. */
export class StoredSensors implements Sensors {
  #documents: DocumentStore
  #policy: Policy

  constructor(documents: DocumentStore, policy: Policy) {
    this.#documents = documents
    this.#policy = policy
  }

  get(id: string): Promise<Sensor | undefined> {
    return this.#documents.get(sensors, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Sensor>> {
    return this.#documents.getMany(sensors, ids)
  }

  /** A new geometry and new properties replace the old ones as a whole. */
  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<Sensor> {
    const derived = withDerived(update, { hasSource: true })
    return orNotFound('sensor', this.#documents.commit({ ...update, ...derived, update: id, in: sensors }, events))
  }

  list(caller: Caller, query: GeoListing, page: GeoListPage): Promise<Page<Sensor>> {
    return listGeo(this.#source(caller), query, page)
  }

  count(caller: Caller, query: GeoListing, upTo: number): Promise<number> {
    return countGeo(this.#source(caller), query, upTo)
  }

  #source(caller: Caller): GeoSource<SensorRecord> {
    return { documents: this.#documents, from: sensors, visible: seenBy(this.#policy, caller) }
  }
}
wire(StoredSensors, DocumentStore, Policy)
