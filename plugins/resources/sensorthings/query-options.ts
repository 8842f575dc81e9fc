import { type Caller, Invalid } from 'pounce/sdk'
import type { EntityCursor, EntityOrder, EntityType, LinkType } from './entity.ts'
import { Filter } from './filter.ts'
import type { ParsedExpansion, ParsedName, ParsedOption, ParsedOrder } from './grammar/sensorthings-parser.js'
import { refusal } from './parsing.ts'
import { types } from './types.ts'

const maxTop = 1000

const maxSkip = 10_000

const maxDepth = 5

const maxExpansions = 20

/** A link whose entities are included inline. */
export interface Expansion {
  readonly link: string
  readonly type: LinkType
  readonly queryOptions: QueryOptions
}

/** Query options of a request, or of an expansion in it. */
export interface QueryOptions {
  readonly filter: Filter | undefined
  readonly expand: readonly Expansion[]
  readonly order: EntityOrder | undefined
  readonly select: ReadonlySet<string> | undefined
  readonly top: number
  readonly skip: number
  readonly isCounted: boolean
  readonly after: EntityCursor | undefined
  /** The options as written, without `$skip` and `$skiptoken`. */
  readonly texts: readonly string[]
}

type Of<K extends ParsedOption['is']> = Extract<ParsedOption, { is: K }>['value']

/** Parses options for entities of a type. Throws `Invalid` naming the option, the position in it, and what would be valid. */
export class QueryOptionParser {
  readonly #now: () => number
  #expansions = 0

  constructor(now: () => number) {
    this.#now = now
  }

  read(
    type: EntityType,
    options: readonly ParsedOption[],
    place: { readonly of?: string; readonly depth?: number; readonly isMany?: boolean } = {},
  ): QueryOptions {
    const { of, depth = 0, isMany = true } = place
    const name = (option: string): string => of ?? `$${option}`
    const names = options.map(({ is }) => is)
    const twice = names.find((is, at) => names.indexOf(is) !== at)
    if (twice !== undefined) throw new Invalid(`Duplicate option $${twice}`)
    const stray = isMany ? undefined : options.find(({ is }) => is !== 'select' && is !== 'expand')
    if (stray) throw refusal(name(stray.is), stray.at, `one ${type.one} takes $select and $expand, not $${stray.is}`)
    const given = <K extends ParsedOption['is']>(is: K): Of<K> | undefined =>
      options.find((option): option is Extract<ParsedOption, { is: K }> => option.is === is)?.value as Of<K> | undefined
    const filter = given('filter')
    return {
      filter: filter && new Filter(filter, type, this.#now, name('filter')),
      expand: this.#expand(type, given('expand') ?? [], name('expand'), depth + 1),
      order: orderOf(type, given('orderby') ?? [], name('orderby')),
      select: selectOf(type, given('select'), name('select')),
      top: Math.min(given('top') ?? 100, maxTop),
      skip: checkedSkip(given('skip') ?? 0),
      isCounted: given('count') ?? false,
      after: undefined,
      texts: options.filter(({ is }) => is !== 'skip').map(({ text }) => text),
    }
  }

  #expand(type: EntityType, parsed: readonly ParsedExpansion[], of: string, depth: number): readonly Expansion[] {
    if (parsed.length > 0 && depth > maxDepth) throw refusal(of, parsed[0]?.at ?? 0, `at most ${maxDepth} expansions are inside each other`)
    return [...byLink(parsed)].map(([link, { options, at }]) => {
      this.#expansions += 1
      if (this.#expansions > maxExpansions) throw refusal(of, at, `more than ${maxExpansions} expansions`)
      const known = Object.hasOwn(type.links, link) ? type.links[link] : undefined
      if (!known) throw refusal(of, at, `${type.set} have no link ${link}, but ${Object.keys(type.links).join(', ')}`)
      return { link, type: known, queryOptions: this.read(types[known.to], options, { of, depth, isMany: known.isMany }) }
    })
  }
}

interface Gathered {
  readonly options: readonly ParsedOption[]
  readonly at: number
}

const textOf = ({ names, options }: Pick<ParsedExpansion, 'names' | 'options'>): string =>
  names.join('/') + (options.length > 0 ? `(${options.map(({ text }) => text).join(';')})` : '')

/** `A/B` is equivalent to `A($expand=B)`, and several with a common prefix are merged. */
const byLink = (parsed: readonly ParsedExpansion[]): ReadonlyMap<string, Gathered> => {
  const links = new Map<string, Gathered>()
  for (const { names, options, at } of parsed) {
    const [link = '', ...rest] = names
    const before = links.get(link)
    const own = rest.length > 0 ? withExpansions([], [{ names: rest, options, at }], at) : options
    links.set(link, before ? { options: joined(before.options, own), at: before.at } : { options: own, at })
  }
  return links
}

const withExpansions = (options: readonly ParsedOption[], value: readonly ParsedExpansion[], at: number): readonly ParsedOption[] => [
  ...options.filter(({ is }) => is !== 'expand'),
  { is: 'expand', value, at, text: `$expand=${value.map(textOf).join(',')}` },
]

const expansionsIn = (options: readonly ParsedOption[]): readonly ParsedExpansion[] =>
  options.flatMap(option => (option.is === 'expand' ? option.value : []))

const joined = (some: readonly ParsedOption[], more: readonly ParsedOption[]): readonly ParsedOption[] => {
  const all = [...some.filter(({ is }) => is !== 'expand'), ...more.filter(({ is }) => is !== 'expand')]
  const inside = [...expansionsIn(some), ...expansionsIn(more)]
  return inside.length > 0 ? withExpansions(all, inside, inside[0]?.at ?? 0) : all
}

const checkedSkip = (skip: number): number => {
  if (skip > maxSkip) throw new Invalid(`$skip: at most ${maxSkip}; follow @iot.nextLink to go further`)
  return skip
}

const nameOf = (name: string | undefined): string | undefined => (name === '@iot.id' ? 'id' : name)

const orderOf = (type: EntityType, parsed: readonly ParsedOrder[], of: string): EntityOrder | undefined => {
  const [first, ...rest] = parsed
  if (!first) return undefined
  const by = nameOf(first.names.join('/')) ?? ''
  if (!type.orders.includes(by)) {
    const offered = type.orders.length > 0 ? `only by ${type.orders.join(' or ')}` : 'in no particular order'
    throw refusal(of, first.at, `${type.set} are listed ${offered}: another order would have to read them all`)
  }
  const other = rest.find(({ names, isDescending }) => isDescending !== first.isDescending || !isSame(by, nameOf(names.join('/'))))
  if (other) throw refusal(of, other.at, `after ${by} only id can follow, in the same direction`)
  return { by, isDescending: first.isDescending }
}

/** The times of datapoints are equivalent sort keys, with ids as tie-breaker. */
const isSame = (by: string, next: string | undefined): boolean => next === 'id' || (by.endsWith('Time') && next?.endsWith('Time') === true)

const selectOf = (type: EntityType, parsed: readonly ParsedName[] | undefined, of: string): ReadonlySet<string> | undefined => {
  if (!parsed) return undefined
  const known = [...Object.keys(type.fields), ...Object.keys(type.links), '@iot.selfLink']
  return new Set(
    parsed.map(({ name, at }) => {
      const selected = nameOf(name) ?? ''
      if (!known.includes(selected)) throw refusal(of, at, `${type.set} have no ${name}, but ${known.join(', ')}`)
      return selected
    }),
  )
}

/** Query options as sent. */
export interface SentOptions {
  readonly $filter?: string
  readonly $expand?: string
  readonly $orderby?: string
  readonly $select?: string
  readonly $top?: number
  readonly $skip?: number
  readonly $count?: boolean
  readonly $skiptoken?: string
  readonly $resultFormat?: 'dataArray'
}

/** A request and its caller. */
export interface EntityRequest {
  readonly caller: Caller
  /** Relative to the root of the service, decoded: `Things(1)/Datastreams`. */
  readonly path: string
  readonly options: SentOptions
  /** Query parameters that are kept in every link, such as `superAdmin=true`. */
  readonly extras: readonly string[]
}
