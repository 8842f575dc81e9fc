import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Asked, Expansion } from './asked.ts'
import { Budget } from './budget.ts'
import type { Cursor, Entities, Entity, Key, Step } from './entity.ts'
import { shown } from './values.ts'

type Json = Readonly<Record<string, unknown>>

/** A list, or what could be found of it within bounds. */
interface Found {
  readonly entities: readonly Entity[]
  /** Where to go on; with what is still to be skipped there. */
  readonly rest?: { readonly after: Cursor | undefined; readonly skip: number }
}

const looks = 20_000
const patienceMs = 1500
/** Counted so far; a count that comes to it may be larger. */
const mostCounted = 100_000
/** Looks between turns of other requests. */
const stint = 500
/** Entities whose links are expanded at the same time. */
const together = 100

/** What a filter may make of a page: so many more are read than wanted. */
const wantedOf = ({ filter, top, skip }: Asked): number => (filter ? Math.max(100, top + skip + 1) : top + skip + 1)

const keyText = (key: Key): string =>
  typeof key === 'number' ? String(key) : `'${encodeURIComponent(key.replaceAll("'", "''")).replaceAll('%3A', ':')}'`

/** Shows entities as the standard writes them. One for each request. */
export class Answer {
  readonly #root: string
  /** Query options that are not the standard's, such as `superAdmin`. */
  readonly #extras: readonly string[]
  readonly #budget = new Budget(looks, patienceMs)
  readonly #counting = new Budget(mostCounted, patienceMs)

  constructor(root: string, extras: readonly string[]) {
    this.#root = root
    this.#extras = extras
  }

  selfLink({ type, key }: Entity): string {
    return `${this.#root}/${type.set}(${keyText(key)})`
  }

  /** `at` is the address of the list. */
  async list(entities: Entities, asked: Asked, at: string): Promise<Json> {
    const { found, head } = await this.#part(entities, asked, at)
    return { ...head(''), value: await this.#all(found, asked) }
  }

  /** The addresses alone. */
  async references(entities: Entities, asked: Asked, at: string): Promise<Json> {
    const { found, head } = await this.#part(entities, asked, at)
    return { ...head(''), value: found.map(entity => ({ '@iot.selfLink': this.selfLink(entity) })) }
  }

  async one(entity: Entity, { select, expand }: Asked): Promise<Json> {
    const isShown = (name: string): boolean => select === undefined || select.has(name)
    const self = this.selfLink(entity)
    const own: Record<string, unknown> = {
      ...(isShown('id') ? { '@iot.id': entity.key } : {}),
      ...(isShown('@iot.selfLink') ? { '@iot.selfLink': self } : {}),
    }
    for (const name of Object.keys(entity.type.fields)) if (name !== 'id' && isShown(name)) own[name] = shown(entity.field(name))
    const expanded = new Map(expand.map(each => [each.link, each]))
    const inside = await Promise.all(expand.map(each => this.#expanded(entity, each, self)))
    for (const link of Object.keys(entity.type.links))
      if (!expanded.has(link) && isShown(link)) own[`${link}@iot.navigationLink`] = `${self}/${link}`
    return Object.assign(own, ...inside)
  }

  async #expanded(entity: Entity, { link, type, asked }: Expansion, self: string): Promise<Json> {
    if (!type.isMany) {
      const other = await entity.one(link)
      return { [link]: other ? await this.one(other, asked) : null }
    }
    const { found, head } = await this.#part(entity.many(link), asked, `${self}/${link}`)
    return { ...head(link), [link]: await this.#all(found, asked) }
  }

  async #all(entities: readonly Entity[], asked: Asked): Promise<readonly Json[]> {
    const all: Json[] = []
    for (let at = 0; at < entities.length; at += together)
      all.push(...(await Promise.all(entities.slice(at, at + together).map(entity => this.one(entity, asked)))))
    return all
  }

  async #part(entities: Entities, asked: Asked, at: string) {
    const [{ entities: found, rest }, count] = await Promise.all([
      this.#find(entities, asked),
      asked.isCounted ? this.#count(entities, asked) : undefined,
    ])
    const head = (link: string): Json => ({
      ...(count === undefined ? {} : { [`${link}@iot.count`]: count }),
      ...(rest === undefined ? {} : { [`${link}@iot.nextLink`]: this.#nextLink(at, asked, rest) }),
    })
    return { found, head }
  }

  async #find(entities: Entities, asked: Asked): Promise<Found> {
    const { filter, order, top } = asked
    const found: Entity[] = []
    let [skip, after, looked] = [asked.skip, asked.after, 0]
    if (top === 0) return { entities: [] }
    const wanted = wantedOf(asked)
    for await (const step of this.#walk(entities, asked, { order, wanted, ...(after ? { after } : {}) })) {
      if (found.length === top || !this.#budget.take()) return { entities: found, rest: { after, skip } }
      after = step.cursor
      looked += 1
      if (looked % stint === 0) await nextTurn()
      const { entity } = step
      if (!entity || (filter && !(await filter.matches(entity)))) continue
      if (skip > 0) skip -= 1
      else found.push(entity)
    }
    return { entities: found }
  }

  /** A filter that names one entity leads straight to it. */
  async *#walk(
    entities: Entities,
    { filter }: Asked,
    walk: { readonly order: Asked['order']; readonly wanted: number; readonly after?: Cursor },
  ): AsyncGenerator<Step> {
    const hints = filter?.hints ?? {}
    if (hints.key === undefined) return yield* entities.walk({ ...walk, hints })
    const entity = walk.after ? undefined : await entities.find(hints.key)
    if (entity) yield { entity, cursor: [0] }
  }

  async #count(entities: Entities, asked: Asked): Promise<number> {
    const { filter } = asked
    const known = filter ? undefined : await entities.count?.(mostCounted, () => this.#counting.take())
    if (known !== undefined) return known
    let [count, looked] = [0, 0]
    for await (const { entity } of this.#walk(entities, asked, { order: undefined, wanted: 1000 })) {
      if (!this.#counting.take()) break
      looked += 1
      if (looked % stint === 0) await nextTurn()
      if (entity && (!filter || (await filter.matches(entity)))) count += 1
    }
    return count
  }

  #nextLink(at: string, { texts }: Asked, { after, skip }: NonNullable<Found['rest']>): string {
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
