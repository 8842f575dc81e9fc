import type { Document } from 'mongodb'
import { type Collection, Conflict, type Stored, Taken } from 'pounce/sdk'
import { checkCollection, type Index } from 'pounce/sdk/store-kit'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { OtherKernels } from './other-kernels.ts'
import { codeOf, isDuplicate } from './problems.ts'
import { fieldOf, memberOf, partsOf, type RecordFormat, recordFormatOf, type StoredRecord, uniqueMember } from './record-format.ts'

/** The format that a collection's documents were last converted to. */
interface CollectionState {
  readonly _id: string
  /** Every document has the fields required by these indexes: see `RecordFormat.filling`. */
  readonly filled: string
}

interface IndexSpec {
  readonly name: string
  readonly key: Document
  readonly unique?: boolean
}

const batchSize = 200

/** Indexes over the same fields are merged, since MongoDB rejects a second one. */
const specOf = ({ on }: Index): IndexSpec => ({
  name: on.map(memberOf).join(','),
  key: Object.fromEntries([...on.map(fieldOf), '_id'].map(field => [field, 1])),
})

const specsOf = (format: RecordFormat): readonly IndexSpec[] => {
  const plain = new Map(Object.values(format.indexes).map(index => [specOf(index).name, specOf(index)]))
  const unique = format.unique.map(([name, index]) => ({
    name: uniqueMember(name, index),
    key: { [`u.${uniqueMember(name, index)}`]: 1 },
    unique: true,
  }))
  return [...plain.values(), ...unique, { name: 'events', key: { 'ev.at': 1 } }]
}

/** The declared collections; creates, fills and drops their indexes. */
export class MongodbCatalog {
  readonly #server: MongodbConnection
  readonly #others: OtherKernels
  readonly #formats = new Map<string, RecordFormat>()
  readonly #written = new Map<string, RecordFormat>()

  constructor(server: MongodbConnection, others: OtherKernels) {
    this.#server = server
    this.#others = others
  }

  /** Names of the declared collections. */
  get names(): readonly string[] {
    return [...this.#formats.keys()]
  }

  /** Throws for a collection that was not declared. */
  recordFormatOf({ name }: Collection<object>): RecordFormat {
    const format = this.#formats.get(name)
    if (format === undefined) throw new Error(`Collection ${name} is not declared`)
    return format
  }

  /** Like `formatOf`, but also while documents are still being converted to a new format. */
  formatForWriting(collection: Collection<object>): RecordFormat {
    return this.#written.get(collection.name) ?? this.recordFormatOf(collection)
  }

  /**
   * Creates new indexes, drops those no longer declared, and adds the fields that new indexes need to existing documents. Work that an
   * earlier run did not finish is repeated. Throws `Taken` for a new unique index over documents that share a key, and `Conflict` for a
   * database with data of another program, and for changed indexes while another kernel is running.
   */
  async declare(collections: readonly Collection<object>[]): Promise<void> {
    for (const collection of collections) checkCollection(collection)
    await this.#refuseBesideOthers(collections.map(recordFormatOf))
    const filled = await this.#filled()
    await this.#refuseForeign(collections.map(({ name }) => name).filter(name => !filled.has(name)))
    for (let at = 0; at < collections.length; at += 8) {
      const some = collections.slice(at, at + 8).map(recordFormatOf)
      for (const format of some) this.#written.set(format.name, format)
      await Promise.all(some.map(format => this.#declare(format, filled.get(format.name))))
      for (const format of some) this.#formats.set(format.name, format)
    }
  }

  #described() {
    return this.#server.collection<CollectionState>('_collections')
  }

  async #filled(): Promise<ReadonlyMap<string, string>> {
    const described = await this.#server.use(() => this.#described().find({}).toArray())
    return new Map(described.map(one => [one._id, one.filled]))
  }

  /** Documents that a kernel with other indexes writes afterwards would lack the keys of the new ones, and never be found by them. */
  async #refuseBesideOthers(formats: readonly RecordFormat[]): Promise<void> {
    const changed = async (): Promise<readonly string[]> => {
      const filled = await this.#filled()
      return formats.filter(({ name, filling }) => (filled.get(name) ?? filling) !== filling).map(({ name }) => name)
    }
    if ((await changed()).length === 0 || (await this.#others.stopped(async () => (await changed()).length > 0))) return
    const names = (await changed()).toSorted().join(', ')
    throw new Conflict(
      `This version has other indexes (${names}) than the servers that are running on the database: stop all of them first; no rolling update is possible`,
    )
  }

  /** Before anything is changed: another program would lose its indexes, and could not insert documents without the fields of unique ones. */
  async #refuseForeign(names: readonly string[]): Promise<void> {
    const existing = await this.#server.use(database => database.listCollections({}, { nameOnly: true }).toArray())
    const stored = new Set(existing.map(({ name }) => name))
    const foreign: string[] = []
    for (const name of names.filter(each => stored.has(each))) {
      const other = await this.#server.withoutTimeLimit(() => this.#server.collection(name).findOne({ ev: { $exists: false } }))
      if (other !== null) foreign.push(name)
    }
    if (foreign.length === 0) return
    const { databaseName } = this.#server.database
    const places = foreign.sort().join(', ')
    throw new Conflict(`documents.mongodb.database: ${databaseName} contains data of another program, in ${places}; use another database`)
  }

  async #declare(format: RecordFormat, filled: string | undefined): Promise<void> {
    const isFilled = filled === format.filling
    if (!isFilled) {
      // Before filling, since the new values need not satisfy an old unique index.
      await this.#dropIndexes(format)
      await this.#fill(format)
    }
    await this.#makeIndexes(format)
    if (isFilled) return
    await this.#server.use(() => this.#described().updateOne({ _id: format.name }, { $set: { filled: format.filling } }, { upsert: true }))
  }

  async #makeIndexes(format: RecordFormat): Promise<void> {
    for (const { name, key, ...options } of specsOf(format)) {
      try {
        await this.#server.withoutTimeLimit(() => this.#server.collection(format.name).createIndex(key, { name, ...options }))
      } catch (error) {
        const index = format.unique.find(one => uniqueMember(...one) === name)
        if (!isDuplicate(error) || index === undefined) throw error
        throw new Taken(index[0], `The index ${index[0]} of ${format.name} cannot be unique: two documents share a key`)
      }
    }
  }

  async #dropIndexes(format: RecordFormat): Promise<void> {
    const specified = new Set(specsOf(format).map(({ name }) => name))
    const there = await this.#server.use(() => this.#server.collection(format.name).indexes()).catch(noneIfNew)
    for (const { name } of there) {
      if (name === undefined || name === '_id_' || specified.has(name)) continue
      await this.#server.withoutTimeLimit(() => this.#server.collection(format.name).dropIndex(name)).catch(unlessGone)
    }
  }

  /** Repeats until no document has an old format: some may be written in it during the first pass. */
  async #fill(format: RecordFormat): Promise<void> {
    while ((await this.#fillRound(format)) > 0);
  }

  async #fillRound(format: RecordFormat): Promise<number> {
    const collection = () => this.#server.collection<StoredRecord>(format.name)
    let count = 0
    for (let after = ''; ; ) {
      const filter = { _id: { $gt: after }, r: { $gt: 0 }, f: { $ne: format.filling } }
      const options = { projection: { d: 1, r: 1, b: 1 }, sort: { _id: 1 as const }, limit: batchSize }
      const batch = await this.#server.withoutTimeLimit(() => collection().find(filter, options).toArray())
      const changes = batch.flatMap(({ _id, d, r, b = '' }) => {
        if (d === undefined || r === undefined) return []
        const { f, k, u } = partsOf(format, JSON.parse(d) as Stored, d)
        return [{ updateOne: { filter: { _id, r, b }, update: { $set: { f, k, u } } } }]
      })
      if (changes.length > 0) await this.#server.withoutTimeLimit(() => collection().bulkWrite(changes, { ordered: false }))
      count += changes.length
      if (batch.length < batchSize) return count
      after = batch.at(-1)?._id ?? after
    }
  }
}

/** A collection is created with its first index or document. */
const noneIfNew = (error: unknown): readonly { readonly name?: string }[] => {
  if (codeOf(error) === 26) return []
  throw error
}

/** Another kernel may have dropped it. */
const unlessGone = (error: unknown): void => {
  if (codeOf(error) !== 26 && codeOf(error) !== 27) throw error
}
