import { join, resolve } from 'node:path'
import { configPort, type GeoStore, Installation, s, Unavailable, wire } from 'pounce/sdk'
import type { Datapoint, GeoBin, GeoPage, PointInserted, StreamStatistics } from 'pounce/sdk/geo'
import { DatabaseBackup, DatabaseDoctor } from 'pounce/sdk/sqlite'
import { checkFile } from './file-check.ts'
import type { RtreeConnection } from './rtree-connection.ts'

export const config = s.Object({
  folder: s.Optional(s.String({ description: 'Folder of the datapoints file. Default: `geo` in the data folder' })),
  cacheMiB: s.Integer({
    default: 32,
    minimum: 1,
    maximum: 65_536,
    description: 'Page cache size, in MiB, while in use; reader threads have up to 8 MiB each',
  }),
  maxSizeMiB: s.Integer({
    default: 0,
    minimum: 0,
    description: 'Maximum size of the file, in MiB; datapoints are then refused as on a full disk. 0: no limit',
  }),
  placesPerStream: s.Integer({
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'Number of places per stream that are shared by its datapoints; further places are indexed in the R*Tree',
  }),
  readers: s.Integer({
    default: 2,
    minimum: 1,
    maximum: 16,
    description: 'Maximum number of threads for long reads; each uses about 25 MB while in use',
  }),
})
const Config = configPort(config)
const fileName = 'points.sqlite'

const folderOf = ({ folder }: s.Static<typeof config>, { dataFolder }: Installation): string => resolve(folder ?? join(dataFolder, 'geo'))

/** Points of many streams write pages all over the file. */
const checkpointPages = 4000

/**
 * Datapoints in one SQLite file with an R*Tree for moving sensors. The file is opened, threads are started and most code is loaded at the first use.
 */
export class RtreeGeo implements GeoStore {
  readonly engine = `SQLite ${process.versions['sqlite'] ?? ''}`.trim()
  readonly #file: string
  readonly #settings: s.Static<typeof config>
  #inUse: Promise<RtreeConnection> | undefined
  #loaded: RtreeConnection | undefined
  #isOpen = false

  constructor(settings: s.Static<typeof config>, installation: Installation) {
    this.#settings = settings
    this.#file = join(folderOf(settings, installation), fileName)
  }

  /** Checks that the file is one of ours, without opening it. */
  async start(): Promise<void> {
    await checkFile(this.#file)
    this.#isOpen = true
  }

  async health(): Promise<void> {
    if (!this.#isOpen) throw new Unavailable('The datapoint store is not open')
    if (this.#inUse) await (await this.#inUse).health()
  }

  /** Writes what is queued, ends the threads and closes the file. Later calls reject with `Unavailable`, reads that continue fail. */
  async dispose(): Promise<void> {
    this.#isOpen = false
    const inUse = this.#inUse
    this.#inUse = undefined
    await (await inUse)?.dispose()
  }

  async #open(): Promise<RtreeConnection> {
    if (!this.#isOpen) throw new Unavailable('The datapoint store is not open')
    this.#inUse ??= this.#load()
    return this.#inUse
  }

  async #load(): Promise<RtreeConnection> {
    const { RtreeConnection } = await import('./rtree-connection.ts')
    const { readers, cacheMiB, maxSizeMiB, placesPerStream } = this.#settings
    const opening = { file: this.#file, readOnly: false, cacheMiB, maxSizeMiB, checkpointPages, placesPerStream }
    this.#loaded = new RtreeConnection(opening, readers)
    return this.#loaded
  }

  /** Calls made before the store was stopped are completed. */
  async insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    return (this.#loaded ?? (await this.#open())).insert(points)
  }

  async get(id: number): Promise<Datapoint | undefined> {
    return (await this.#open()).get(id)
  }

  async find(query: Parameters<GeoStore['find']>[0]): Promise<GeoPage> {
    return (await this.#open()).find(query)
  }

  async *read(query: Parameters<GeoStore['read']>[0]): AsyncGenerator<readonly Datapoint[]> {
    yield* (await this.#open()).read(query)
  }

  async count(...[filter, upTo]: Parameters<GeoStore['count']>): Promise<number> {
    return (await this.#open()).count(filter, upTo)
  }

  async highest(): ReturnType<GeoStore['highest']> {
    return (await this.#open()).highest()
  }

  async statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>> {
    return (await this.#open()).statistics(streams)
  }

  async *bins(query: Parameters<GeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
    yield* (await this.#open()).bins(query)
  }

  async remove(what: Parameters<GeoStore['remove']>[0]): Promise<number> {
    return (await this.#open()).remove(what)
  }
}
wire(RtreeGeo, Config, Installation)

/** The datapoints, for `pounce backup`. */
export class DatapointsBackup extends DatabaseBackup {
  constructor(settings: s.Static<typeof config>, installation: Installation) {
    super('geo', join(folderOf(settings, installation), fileName))
  }
}
wire(DatapointsBackup, Config, Installation)

/** The datapoints, for `pounce doctor`. */
export class DatapointsDoctor extends DatabaseDoctor {
  constructor(settings: s.Static<typeof config>, installation: Installation) {
    super({
      name: 'geo',
      file: () => join(folderOf(settings, installation), fileName),
      mayBeAbsent: true,
      jsonColumns: ['geometry', 'names', 'rest'],
      remedy:
        'stop the server, keep a copy of the file, and restore a backup as docs/operations.md says, or delete it and load the datapoints again',
    })
  }
}
wire(DatapointsDoctor, Config, Installation)
