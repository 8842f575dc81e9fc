import { type BlobStore, type Clock, type Collection, Conflict, type DocumentStore, type GeoStore, Invalid, type Update } from 'pounce/sdk'
import type { BlobPlace } from 'pounce/sdk/store-kit'
import { BlobMigrator } from './blob-migrator.ts'
import { DocumentMigrator } from './document-migrator.ts'
import { GeoPointMigrator } from './geo-point-migrator.ts'
import { finishMove, type MoveReport, movedBlobs, moveId, moveRecords } from './migration-record.ts'

/** The stores of an installation. */
export interface Stores {
  readonly documents: DocumentStore
  readonly blobs: BlobStore
  /** Absent on both sides if datapoints are not migrated. */
  readonly points?: GeoStore
}

/** The plan of a migration. A store shared by both sides is the same object. */
export interface MovePlan {
  /** Such as `sqlite+disk to mongodb+s3`. */
  readonly route: string
  readonly from: Stores
  readonly to: Stores
  /** Name of the installation; undefined if the source contains none. */
  readonly instance: string | undefined
  readonly collections: readonly Collection<object>[]
  /** Collections of the source that change only while a server is running. */
  readonly leases: readonly Collection<object>[]
  readonly places: readonly BlobPlace[]
  readonly clock: Clock
  readonly progress: (message: string) => void
  /** Whether to also read all bytes in the new store. */
  readonly readData: boolean
  readonly skipDamaged: boolean
  /** The search index is rebuilt next: `finishMove` ends the migration, which until then can be repeated. */
  readonly hasSearch?: boolean
}

/** Collections of migrations themselves, which are not migrated. */
const staying: ReadonlySet<string> = new Set([moveRecords.name, movedBlobs.name])
const batchSize = 500

/** Migrates an installation to other stores. Resumable after a kill at any point. Only reads the source, except for shared stores. */
export class StoreCopy {
  readonly #plan: MovePlan
  readonly #blobs: BlobMigrator
  readonly #documents: DocumentMigrator
  readonly #points: GeoPointMigrator | undefined
  readonly #collections: readonly Collection<object>[]
  /** The revisions of leases in the source at the beginning. */
  #leases = ''

  constructor(plan: MovePlan) {
    const { from, to, skipDamaged, places } = plan
    this.#plan = plan
    this.#blobs = new BlobMigrator({ from: from.blobs, to: to.blobs, documents: to.documents, skipDamaged })
    this.#documents = new DocumentMigrator({ from: from.documents, to: to.documents, blobs: this.#blobs, places })
    this.#points =
      from.points && to.points && from.points !== to.points ? new GeoPointMigrator({ from: from.points, to: to.points }) : undefined
    this.#collections = plan.collections.filter(({ name }) => !staying.has(name))
  }

  async run(): Promise<MoveReport> {
    await this.#plan.to.documents.declare([moveRecords, movedBlobs])
    const report = (await this.#begin()) ?? (await this.#move())
    await this.#forgetBlobs()
    if (!this.#plan.hasSearch) await finishMove(this.#plan.to.documents)
    return report
  }

  async #move(): Promise<MoveReport> {
    const { progress, readData } = this.#plan
    this.#leases = await this.#leasesNow()
    const hasRecords = this.#documents.isNeeded || this.#blobs.isNeeded
    if (hasRecords) await this.#moveRecords()
    await this.#points?.move(count => progress(`${count} points`))
    const documents = hasRecords ? await this.#compare() : 0
    const { blobs, bytes } = await this.#blobs.verify(readData, count => progress(`${count} files compared`))
    const points = (await this.#points?.compare(count => progress(`${count} points compared`))) ?? null
    await this.#refuseRunning()
    const report: MoveReport = {
      collections: hasRecords ? this.#collections.length : 0,
      documents,
      blobs,
      bytes,
      points,
      copiedNow: this.#blobs.copied,
      withoutBytes: this.#blobs.lost.size,
      verified: readData ? 'counts and checksums, every byte read' : 'counts and checksums',
    }
    await this.#note({ state: 'moved', ended: this.#plan.clock.now().toISOString(), report: { ...report } })
    return report
  }

  async #moveRecords(): Promise<void> {
    for (const one of this.#collections) {
      await this.#documents.move(one, count =>
        this.#plan.progress(`${one.name}: ${count} records; ${this.#blobs.copied} files, ${this.#blobs.copiedBytes} bytes`),
      )
      await this.#refuseRunning()
    }
  }

  async #leasesNow(): Promise<string> {
    const found: string[] = []
    for (const one of this.#plan.leases)
      for await (const { id, revision } of this.#plan.from.documents.walk(one)) found.push(`${id}:${revision}`)
    return found.join()
  }

  /** A running worker takes the lease of a periodic task every 20 s or more often. */
  async #refuseRunning(): Promise<void> {
    if ((await this.#leasesNow()) !== this.#leases)
      throw new Conflict('A server is running on the source: stop it and run the command again. The migration is not complete')
  }

  /** Refuses a target that contains anything not written by this migration. Resolves to the report if the migration is already complete. */
  async #begin(): Promise<MoveReport | undefined> {
    const { route, instance, to, clock } = this.#plan
    if (instance === undefined) throw new Invalid('No installation found in the source: check the data folder and the database')
    const known = await to.documents.get(moveRecords, moveId)
    const isSame = known?.route === route && known.instance === instance
    if (isSame && known.state === 'moved') return known.report ?? undefined
    if (isSame && known.state === 'under way') return undefined
    if (known?.state === 'under way')
      throw new Conflict(`The target holds an unfinished migration: ${known.route}, of the installation ${known.instance}`)
    await this.#refuseFull(known?.route === route ? `; the migration was completed at ${known.ended}` : '')
    const record = {
      route,
      instance,
      state: 'under way' as const,
      begun: clock.now().toISOString(),
      ended: null,
      report: null,
    }
    // Those of an earlier migration.
    await this.#forgetBlobs()
    if (known) await this.#note(record)
    else await to.documents.commit({ insert: { id: moveId, ...record }, into: moveRecords })
    return undefined
  }

  async #note(set: Update['set'] & object): Promise<void> {
    await this.#plan.to.documents.commit({ update: moveId, in: moveRecords, set })
  }

  async #refuseFull(more: string): Promise<void> {
    const { to } = this.#plan
    const why = `The target stores must be empty${more}`
    if (this.#documents.isNeeded)
      for (const one of this.#collections)
        for await (const { id } of to.documents.walk(one)) throw new Conflict(`The target is not empty: ${one.name} contains ${id}. ${why}`)
    if (this.#blobs.isNeeded)
      for await (const { key } of to.blobs.list()) throw new Conflict(`The target is not empty: it contains the bytes ${key}. ${why}`)
    await this.#points?.refuseFull(why)
  }

  async #compare(): Promise<number> {
    let documents = 0
    for (const one of this.#collections) {
      const { source, target } = await this.#documents.fingerprints(one)
      if (!source.equals(target))
        throw new Invalid(
          `${one.name} differs after the migration: ${source.count} and ${target.count} records, ${source.digest} and ${target.digest}. Is a server running on one of them? The migration is not complete`,
        )
      documents += source.count
      this.#plan.progress(`${one.name}: ${source.count} records compared`)
    }
    return documents
  }

  async #forgetBlobs(): Promise<void> {
    const { documents } = this.#plan.to
    let ids: string[] = []
    const remove = async (): Promise<void> => {
      for (const result of await documents.commitEach(ids.map(id => ({ change: { tombstone: id, in: movedBlobs } }))))
        if (!result.ok) throw result.error
      ids = []
    }
    for await (const { id } of documents.walk(movedBlobs)) if (ids.push(id) === batchSize) await remove()
    if (ids.length > 0) await remove()
  }
}
