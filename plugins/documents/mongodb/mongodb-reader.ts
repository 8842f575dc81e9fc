import { type After, type Collection, type Find, type Page, type Stored, Unavailable, type Where } from 'pounce/sdk'
import { valueAt } from 'pounce/sdk/kit'
import { checkFind, checkSeek, conjunctsOf, indexesOf, isScalar, matcher } from 'pounce/sdk/store-kit'
import { alternativesOf, translateAll } from './conditions.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import { type DocumentRow, living, MergedSource, type QueryRead, QuerySource } from './query-source.ts'
import { encode, encodeText, fieldOf, type RecordFormat, type StoredRecord } from './record-format.ts'
import { type SortOrder, sortOf } from './sort-positions.ts'

/** Arguments of `count`. */
export type Count = Pick<Find, 'using' | 'where'> & { readonly upTo: number }

/** Arguments of `seek`. */
export type Seek = Pick<Find, 'using' | 'where' | 'sort'> & { readonly position: number }

/** Batch size of a scan: in documents, and in characters, which ends a batch early: a document may have 10 MiB. */
const batch = { first: 200, maxCharacters: 1024 * 1024 } as const

const parse = <T>(record: StoredRecord): (T & Stored) | undefined =>
  record.d === undefined ? undefined : (JSON.parse(record.d) as T & Stored)

/** Runs queries. The server filters as far as it can; documents are then checked again here. */
export class MongodbReader {
  readonly #server: MongodbConnection
  readonly #formatOf: (collection: Collection<object>) => RecordFormat
  readonly #limitMs: number

  constructor(server: MongodbConnection, formatOf: (collection: Collection<object>) => RecordFormat, limitMs: number) {
    this.#server = server
    this.#formatOf = formatOf
    this.#limitMs = limitMs
  }

  async get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined> {
    const { name } = this.#formatOf(from)
    const record = await this.#server.use(() =>
      this.#server.collection<StoredRecord>(name).findOne({ _id: encodeText(id) }, { projection: { d: 1 } }),
    )
    return record ? parse<T>(record) : undefined
  }

  async getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>> {
    if (ids.length > 1000) throw new RangeError('At most 1,000 documents per request')
    const { name } = this.#formatOf(from)
    const filter = { _id: { $in: ids.map(encodeText) } }
    const options = { projection: { d: 1 }, batchSize: 1001 }
    const records =
      ids.length === 0 ? [] : await this.#server.use(() => this.#server.collection<StoredRecord>(name).find(filter, options).toArray())
    const found = records.map(one => parse<T>(one)).filter(document => document !== undefined)
    return new Map(found.map(document => [document.id, document]))
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    checkFind(from, query)
    const { sort, after, limit } = query
    const order: SortOrder = { fields: sort ? [fieldOf(sort.by)] : [], isDescending: sort?.order === 'descending' }
    const rows = this.#rows(from, alternativesOf(from, query), {
      order,
      paths: sort ? [sort.by] : [],
      after: after?.map(encode),
      first: limit + 1,
      maxCharacters: query.maxCharacters,
    })
    const fits = matcher(query.where)
    const items: (T & Stored)[] = []
    let maxScanned = query.maxScanned ?? Number.POSITIVE_INFINITY
    let left = query.maxCharacters ?? Number.POSITIVE_INFINITY
    for await (const { document, characters } of rows) {
      if (!fits(document)) {
        if (--maxScanned <= 0) return { items, next: afterOf(document, query) }
        continue
      }
      if (items.length === limit) return { items, next: afterOf(items.at(-1) as Stored, query) }
      items.push(document as T & Stored)
      left -= characters
      if (left <= 0) return { items, next: afterOf(document, query) }
    }
    return { items }
  }

  /** Documents of all alternatives in order; may be more than fit. */
  async *#rows(
    from: Collection<object>,
    alternatives: readonly (readonly Where[])[],
    reading: Pick<QueryRead, 'order' | 'paths' | 'after' | 'first' | 'maxCharacters'>,
  ): AsyncGenerator<DocumentRow> {
    const format = this.#formatOf(from)
    const until = performance.now() + this.#limitMs
    const sources = alternatives.map(conditions => {
      const { filter } = translateAll(format, conditions)
      return new QuerySource({ server: this.#server, collection: format.name, filter, ...reading })
    })
    const merged = new MergedSource(sources, reading.order)
    for (let row = await merged.next(); row !== undefined; row = await merged.next()) {
      if (performance.now() > until) throw new Unavailable('The query timed out')
      yield row
    }
  }

  async count<T extends object>(from: Collection<T>, { using, where, upTo }: Count): Promise<number> {
    const format = this.#formatOf(from)
    indexesOf(from, using)
    if (!Number.isInteger(upTo) || upTo < 1) throw new RangeError('The limit of a count must be a whole number of at least 1')
    const conjuncts = conjunctsOf(where)
    const { filter, isExact } = translateAll(format, conjuncts)
    if (isExact) {
      return this.#server.use(() => this.#server.collection<StoredRecord>(format.name).countDocuments(living(filter), { limit: upTo }))
    }
    const fits = matcher(where)
    const order = { fields: [], isDescending: false }
    let count = 0
    for await (const { document } of this.#rows(from, [conjuncts], { order, paths: [], after: undefined, ...batch })) {
      if (fits(document) && ++count === upTo) break
    }
    return count
  }

  async seek<T extends object>(from: Collection<T>, query: Seek): Promise<After | undefined> {
    checkSeek(from, query)
    const { where, sort, position } = query
    const format = this.#formatOf(from)
    const { filter, isExact } = translateAll(format, conjunctsOf(where))
    if (!isExact) throw new Error(`No index of ${format.name} answers this query alone`)
    const order: SortOrder = { fields: sort ? [fieldOf(sort.by)] : [], isDescending: sort?.order === 'descending' }
    const options = { projection: { d: 1 }, sort: sortOf(order), skip: position - 1, limit: 1, maxTimeMS: this.#limitMs }
    const record = await this.#server.use(() => this.#server.collection<StoredRecord>(format.name).find(living(filter), options).next())
    const document = record ? parse<T>(record) : undefined
    return document && afterOf(document, query)
  }

  async *walk<T extends object>(from: Collection<T>, after?: string): AsyncGenerator<T & Stored> {
    const collection = this.#formatOf(from).name
    const place = after === undefined ? undefined : [after]
    const order = { fields: [], isDescending: false }
    const source = new QuerySource({ server: this.#server, collection, filter: {}, order, paths: [], after: place, ...batch })
    for (await source.fill(); source.row !== undefined; await source.fill()) {
      const { document } = source.row
      source.advance()
      yield document as T & Stored
    }
  }

  async *scan<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncGenerator<T & Stored> {
    const { using, where, sort } = query
    checkFind(from, { ...query, limit: 1 })
    const format = this.#formatOf(from)
    const [first] = indexesOf(from, using)
    const paths = sort ? [sort.by] : (first?.on.filter(path => !format.paths.get(path)) ?? [])
    const order: SortOrder = { fields: paths.map(fieldOf), isDescending: sort?.order === 'descending' }
    const { filter } = translateAll(format, conjunctsOf(where))
    const source = new QuerySource({
      server: this.#server,
      collection: format.name,
      filter,
      order,
      paths,
      after: undefined,
      ...batch,
    })
    const fits = matcher(where)
    for (await source.fill(); source.row !== undefined; await source.fill()) {
      const { document } = source.row
      source.advance()
      if (fits(document)) yield document as T & Stored
    }
  }
}

const afterOf = (last: Stored, { sort }: Pick<Find, 'sort'>): After => {
  if (sort === undefined) return [last.id]
  const value = valueAt(last, sort.by)
  return [isScalar(value) ? value : null, last.id]
}
