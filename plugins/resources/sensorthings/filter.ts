import type { GeoArea } from 'pounce/sdk/geo'
import { checkGeoFilter } from 'pounce/sdk/geo'
import { type Compiled, FilterCompiler, type Seen } from './compile.ts'
import type { Entity, EntityType, HintOf, Hints } from './entity.ts'
import type { Comparing, ParsedCall, ParsedComparison, ParsedFilter, ParsedMember } from './grammar/sensorthings-parser.js'
import { EntityTimeSpan, GeoPlace, type Value } from './values.ts'

const mirrored: Readonly<Record<Comparing, Comparing>> = { eq: 'eq', ne: 'ne', lt: 'gt', le: 'ge', gt: 'lt', ge: 'le' }
const nobody: Seen = new Map()

/** A condition on entities of one type. */
export class Filter {
  readonly hints: Hints
  readonly #condition: Compiled
  readonly #paths: ReadonlySet<string>

  /** Throws `Invalid` with the position in the text `of` that is not supported for these entities. */
  constructor(what: ParsedFilter, type: EntityType, now: () => number, of = '$filter') {
    const compiler = new FilterCompiler(type, now, of)
    this.#condition = compiler.condition(what)
    this.#paths = compiler.paths
    const apart = new FilterCompiler(type, now, of)
    this.hints = conjunctsOf(what).reduce<Hints>((hints, each) => both(hints, hintOf(each, type, apart)), {})
  }

  /** Synchronous if the filter follows no link. */
  matches(entity: Entity): boolean | Promise<boolean> {
    if (this.#paths.size === 0) return this.#condition.value(new Map([['', entity]])) === true
    return this.#matchesWithOthers(entity)
  }

  async #matchesWithOthers(entity: Entity): Promise<boolean> {
    const seen = new Map([['', entity]])
    for (const path of this.#paths) {
      const other = await behind(entity, path.split('/'))
      if (other === undefined) return false
      seen.set(path, other)
    }
    return this.#condition.value(seen) === true
  }
}

/** The targets of single-valued links. */
const behind = async (entity: Entity, links: readonly string[]): Promise<Entity | undefined> => {
  let at: Entity | undefined = entity
  for (const link of links) {
    if (at === undefined) return undefined
    at = at.type.links[link]?.isMany ? await first(at, link) : await at.one(link)
  }
  return at
}

const first = async (entity: Entity, link: string): Promise<Entity | undefined> => {
  const others = entity.many(link)
  for await (const [step] of others.walk({ order: undefined, hints: {}, wanted: 1 })) if (step?.show) return step.show()
  return undefined
}

const conjunctsOf = (what: ParsedFilter): readonly ParsedFilter[] => (what.is === 'and' ? what.of.flatMap(conjunctsOf) : [what])

const hintOf = (what: ParsedFilter, type: EntityType, compiler: FilterCompiler): Hints => {
  if (what.is === 'comparison') return ofComparison(what, type, compiler)
  return what.is === 'call' ? ofCall(what, type, compiler) : {}
}

const roleOf = ({ names }: ParsedMember, type: EntityType): HintOf | undefined => {
  const path = names.join('/').replace('@iot.id', 'id')
  return Object.hasOwn(type.hints, path) ? type.hints[path] : undefined
}

/** The value of a part that is the same for every entity. */
const fixed = (what: ParsedFilter | undefined, compiler: FilterCompiler): Value => {
  if (what === undefined) return undefined
  const compiled = compiler.compile(what)
  return compiled.isConstant ? compiled.value(nobody) : undefined
}

const ofComparison = ({ operator, left, right }: ParsedComparison, type: EntityType, compiler: FilterCompiler): Hints => {
  if (left.is === 'call' && (operator === 'lt' || operator === 'le')) return ofDistance(left, fixed(right, compiler), type, compiler)
  const [member, other, is] = left.is === 'member' ? [left, right, operator] : [right, left, mirrored[operator]]
  if (member.is !== 'member') return {}
  const [role, value] = [roleOf(member, type), fixed(other, compiler)]
  if (is === 'eq' && role !== undefined && isKeyed(role) && (typeof value === 'string' || typeof value === 'number'))
    return { [role]: value }
  return (role === 'start' || role === 'end') && value instanceof EntityTimeSpan ? ofTime(is, role, value) : {}
}

const isKeyed = (role: HintOf): boolean => role !== 'start' && role !== 'end' && role !== 'place'

const ofTime = (is: Comparing, role: 'start' | 'end', { fromMs, toMs }: EntityTimeSpan): Hints => {
  switch (is) {
    case 'lt':
    case 'le':
      return { toMs }
    case 'gt':
    case 'ge':
      return role === 'start' ? { fromMs } : { endsFromMs: fromMs }
    case 'eq':
      return role === 'start' ? { fromMs, toMs: fromMs } : { toMs, endsFromMs: fromMs }
    case 'ne':
      return {}
  }
}

const circleAround = (place: GeoPlace, radiusMetres: number): readonly GeoArea[] => {
  const [longitude = 0, latitude = 0] = place.geometry.type === 'Point' ? place.geometry.coordinates : []
  // Slightly enlarged: results near the edge are tested afterwards.
  const radius = Math.min(Math.max(0, radiusMetres) * 1.02, 20_000_000)
  return [{ circle: { longitude, latitude, radiusMetres: radius } }]
}

const ofDistance = ({ name, of: parts }: ParsedCall, metres: Value, type: EntityType, compiler: FilterCompiler): Hints => {
  const isDistance = name.toLowerCase().endsWith('distance')
  const [member, point] = parts[0]?.is === 'member' ? parts : [parts[1], parts[0]]
  if (!isDistance || member?.is !== 'member' || roleOf(member, type) !== 'place' || typeof metres !== 'number') return {}
  const place = fixed(point, compiler)
  return place instanceof GeoPlace && place.geometry.type === 'Point' ? { areas: circleAround(place, metres) } : {}
}

const ofCall = ({ name, of: parts }: ParsedCall, type: EntityType, compiler: FilterCompiler): Hints => {
  const [member, other] = parts[0]?.is === 'member' ? parts : [parts[1], parts[0]]
  if (member?.is !== 'member') return {}
  const [called, role, value] = [name.toLowerCase(), roleOf(member, type), fixed(other, compiler)]
  const isArea = called === 'st_within' || called === 'st_intersects' || called === 'geo.intersects'
  if (isArea && role === 'place' && value instanceof GeoPlace && value.geometry.type === 'Polygon')
    return inside(value.geometry.coordinates)
  if (role !== 'start' || !(value instanceof EntityTimeSpan)) return {}
  const isFirst = parts[0] === member
  if (called === 'during' && isFirst) return { fromMs: value.fromMs, toMs: value.toMs }
  if (called === 'overlaps') return { toMs: value.toMs, endsFromMs: value.fromMs }
  if ((called === 'before' && isFirst) || (called === 'after' && !isFirst)) return { toMs: value.toMs }
  return (called === 'after' && isFirst) || (called === 'before' && !isFirst) ? { fromMs: value.fromMs } : {}
}

const inside = (polygon: Extract<GeoArea, { polygon: unknown }>['polygon']): Hints => {
  // Stores only search within the world.
  const isWorldly = polygon.flat().every(([longitude = 0, latitude = 0]) => Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)
  if (!isWorldly) return {}
  const areas = [{ polygon }]
  checkGeoFilter({ areas })
  return { areas }
}

const later = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)
const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

/** Combines two conditions; of two areas the first is used for the scan. */
const both = (one: Hints, other: Hints): Hints => {
  const times = {
    fromMs: later(one.fromMs, other.fromMs),
    toMs: earlier(one.toMs, other.toMs),
    endsFromMs: later(one.endsFromMs, other.endsFromMs),
  }
  const known = Object.entries(times).filter(([, ms]) => ms !== undefined)
  return { ...other, ...one, ...Object.fromEntries(known) }
}
