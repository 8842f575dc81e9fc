import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entities, Entity, EntityCursor, EntityKey, EntityStep, EntityType } from './entity.ts'
import { AnswerSize, QueryBudget } from './query-budget.ts'
import type { Expansion, QueryOptions } from './query-options.ts'
import { shown } from './values.ts'

type Json = Readonly<Record<string, unknown>>

/** A list, or the part of it that was found within the limits. */
interface Found {
  readonly entities: readonly Entity[]
  /** Where to continue, and the number of entities still to be skipped there. */
  readonly rest?: { readonly after: EntityCursor | undefined; readonly skip: number }
}

const looks = 20_000
const maxExpandMs = 5000
/** Limits of one response, including expanded entities, each time they are included. */
const [maxEntities, maxBytes] = [20_000, 16 * 1024 * 1024]
const countingMs = 500
/** Counts stop here: a count that reaches it may be larger. */
const maxCounted = 100_000
/** Maximum number of non-matching records read for a nested list: one response may contain many such lists. */
const maxNestedRows = 100
/** Number of reads after which the event loop is yielded. */
const stint = 500
/** Number of entities whose links are expanded concurrently. */
const together = 100

/** A filter may drop entities of a page, so more are read than requested. */
const wantedOf = ({ filter, top, skip }: QueryOptions): number => (filter ? Math.max(100, top + skip + 1) : top + skip + 1)

const keyText = (key: EntityKey): string =>
  typeof key === 'number' ? String(key) : `'${encodeURIComponent(key.replaceAll("'", "''")).replaceAll('%3A', ':')}'`

interface Names {
  readonly fields: readonly string[]
  readonly links: readonly { readonly name: string; readonly member: string }[]
}

/** The members of the entities of a set, computed once. */
const known = new Map<EntityType, Names>()
const namesOf = (type: EntityType): Names => {
  const names = known.get(type) ?? {
    fields: Object.keys(type.fields).filter(name => name !== 'id'),
    links: Object.keys(type.links).map(name => ({ name, member: `${name}@iot.navigationLink` })),
  }
  known.set(type, names)
  return names
}

/** Formats entities as the standard specifies. One instance per request. */
export class EntityFormatter {
  readonly #root: string
  /** Query parameters outside the standard, such as `superAdmin`. */
  readonly #extras: readonly string[]
  readonly #budget = new QueryBudget(looks, maxExpandMs)
  readonly #size = new AnswerSize(maxEntities, maxBytes)
  readonly #counting = new QueryBudget(maxCounted, countingMs)

  constructor(root: string, extras: readonly string[]) {
    this.#root = root
    this.#extras = extras
  }

  selfLink({ type, key }: Entity): string {
    return `${this.#root}/${type.set}(${keyText(key)})`
  }

  /** `at` is the URL of the list. */
  async list(entities: Entities, queryOptions: QueryOptions, at: string): Promise<Json> {
    const { found, head } = await this.#part(entities, queryOptions, at)
    return { ...head(''), value: await this.#all(found, queryOptions) }
  }

  /** The URLs only. */
  async references(entities: Entities, queryOptions: QueryOptions, at: string): Promise<Json> {
    const { found, head } = await this.#part(entities, queryOptions, at)
    return { ...head(''), value: found.map(entity => ({ '@iot.selfLink': this.selfLink(entity) })) }
  }

  /** Observations as rows with column names, per datastream: a fifth of the length. */
  async dataArray(entities: Entities, queryOptions: QueryOptions, at: string): Promise<Json> {
    const { found, head } = await this.#part(entities, queryOptions, at)
    const components = Object.keys(entities.type.fields).filter(name => queryOptions.select === undefined || queryOptions.select.has(name))
    const groups = Map.groupBy(found, entity => entity.field('Datastream/id'))
    const value = [...groups].map(([key, observations]) => ({
      'Datastream@iot.navigationLink': `${this.#root}/Datastreams(${keyText(String(key))})`,
      components,
      'dataArray@iot.count': observations.length,
      dataArray: observations.map(entity => components.map(name => shown(entity.field(name)))),
    }))
    return { ...head(''), value }
  }

  /** Synchronous if nothing is expanded. */
  one(entity: Entity, { select, expand }: QueryOptions): Json | Promise<Json> {
    const { fields, links } = namesOf(entity.type)
    const isShown = (name: string): boolean => select === undefined || select.has(name)
    const self = this.selfLink(entity)
    const own: Record<string, unknown> = {}
    if (isShown('id')) own['@iot.id'] = entity.key
    if (isShown('@iot.selfLink')) own['@iot.selfLink'] = self
    for (const name of fields) if (isShown(name)) own[name] = shown(entity.field(name))
    for (const { name, member } of links) if (isShown(name) && !expand.some(({ link }) => link === name)) own[member] = `${self}/${name}`
    this.#size.add(own)
    if (expand.length === 0) return own
    return Promise.all(expand.map(each => this.#expanded(entity, each, self))).then(inside => Object.assign(own, ...inside))
  }

  async #expanded(entity: Entity, { link, type, queryOptions }: Expansion, self: string): Promise<Json> {
    if (!type.isMany) {
      const other = await entity.one(link)
      return { [link]: other ? await this.one(other, queryOptions) : null }
    }
    const { found, head } = await this.#part(entity.many(link), queryOptions, `${self}/${link}`, maxNestedRows)
    return { ...head(link), [link]: await this.#all(found, queryOptions) }
  }

  async #all(entities: readonly Entity[], queryOptions: QueryOptions): Promise<readonly Json[]> {
    if (queryOptions.expand.length === 0) return entities.map(entity => this.one(entity, queryOptions) as Json)
    const all: Json[] = []
    for (let at = 0; at < entities.length; at += together)
      all.push(...(await Promise.all(entities.slice(at, at + together).map(entity => this.one(entity, queryOptions)))))
    return all
  }

  async #part(entities: Entities, queryOptions: QueryOptions, at: string, maxScanned = looks) {
    const [{ entities: found, rest }, count] = await Promise.all([
      this.#find(entities, queryOptions, maxScanned),
      queryOptions.isCounted ? this.#count(entities, queryOptions) : undefined,
    ])
    const head = (link: string): Json => ({
      ...(count === undefined ? {} : { [`${link}@iot.count`]: count }),
      ...(rest === undefined ? {} : { [`${link}@iot.nextLink`]: this.#nextLink(at, queryOptions, rest) }),
    })
    return { found, head }
  }

  async #find(entities: Entities, queryOptions: QueryOptions, maxScanned: number): Promise<Found> {
    const { filter, order, top } = queryOptions
    const found: Entity[] = []
    let [skip, after, inVain] = [queryOptions.skip, queryOptions.after, 0]
    if (top === 0) return { entities: [] }
    const wanted = wantedOf(queryOptions)
    for await (const lot of this.#walk(entities, queryOptions, { order, wanted, ...(after ? { after } : {}) })) {
      for (const step of lot) {
        if (found.length === top || inVain >= maxScanned || !this.#budget.take()) return { entities: found, rest: { after, skip } }
        after = step.cursor
        const fitting = this.#fitting(step, filter)
        const entity = fitting instanceof Promise ? await fitting : fitting
        if (!entity) inVain += 1
        else if (skip > 0) skip -= 1
        else found.push(entity)
      }
      if (lot.length >= stint) await nextTurn()
    }
    return { entities: found }
  }

  /** Synchronous whenever possible, because very many entities are tested. */
  #fitting({ show }: EntityStep, filter: QueryOptions['filter']): Entity | undefined | Promise<Entity | undefined> {
    const entity = show?.()
    if (!entity || !filter) return entity
    const check = (one: Entity): Entity | undefined | Promise<Entity | undefined> => {
      const fits = filter.matches(one)
      return typeof fits === 'boolean' ? (fits ? one : undefined) : fits.then(does => (does ? one : undefined))
    }
    return entity instanceof Promise ? entity.then(check) : check(entity)
  }

  /** A filter that specifies one entity finds it directly. */
  async *#walk(
    entities: Entities,
    { filter }: QueryOptions,
    walk: { readonly order: QueryOptions['order']; readonly wanted: number; readonly after?: EntityCursor },
  ): AsyncGenerator<readonly EntityStep[]> {
    const hints = filter?.hints ?? {}
    if (hints.key === undefined) return yield* entities.walk({ ...walk, hints })
    const entity = walk.after ? undefined : await entities.find(hints.key)
    if (entity) yield [{ show: () => entity, cursor: [0] }]
  }

  async #count(entities: Entities, queryOptions: QueryOptions): Promise<number> {
    const { filter } = queryOptions
    const known = filter ? undefined : await entities.count?.(maxCounted, () => this.#counting.take())
    if (known !== undefined) return known
    let count = 0
    for await (const lot of this.#walk(entities, queryOptions, { order: undefined, wanted: 1000 })) {
      for (const step of lot) {
        if (!this.#counting.take()) return count
        const fitting = filter ? this.#fitting(step, filter) : step.show
        if (fitting instanceof Promise ? await fitting : fitting) count += 1
      }
      if (lot.length >= stint) await nextTurn()
    }
    return count
  }

  #nextLink(at: string, { texts }: QueryOptions, { after, skip }: NonNullable<Found['rest']>): string {
    const options = [
      ...this.#extras,
      ...texts.map(text => {
        const sign = text.indexOf('=')
        return `${text.slice(0, sign)}=${encodeURIComponent(text.slice(sign + 1))}`
      }),
      ...(skip > 0 ? [`$skip=${skip}`] : []),
      ...(after ? [`$skiptoken=${Buffer.from(JSON.stringify(after)).toString('base64url')}`] : []),
    ]
    return `${at}?${options.join('&')}`
  }
}
