import { GeoStore, type Lifecycle, maskedUri, type StatusPart, wire } from 'pounce/sdk'
import { Config, type Settings } from './settings.ts'

/** Where datapoints are kept, for the status page. */
export class PostgisStatus implements StatusPart {
  readonly name = 'postgis'
  readonly isPlain = true
  readonly details: Readonly<Record<string, string>>
  readonly #points: GeoStore & Lifecycle

  constructor({ url, schema }: Settings, points: GeoStore & Lifecycle) {
    this.#points = points
    this.details = { url: maskedUri(url), schema }
  }

  async check(): Promise<undefined> {
    await this.#points.health?.()
  }
}
wire(PostgisStatus, Config, GeoStore)
