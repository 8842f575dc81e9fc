import type { Geometry, GeoPosition } from 'pounce/sdk/geo'
import { geometryFault, intersects, metresBetween, positionsOf } from 'pounce/sdk/geo'
import { msOfTime } from 'pounce/sdk/kit'
import type { Entity, EntityType } from './entity.ts'
import type { ParsedCall, ParsedFilter, ParsedLiteral, ParsedMember, Reckoning } from './grammar/sensorthings-parser.js'
import { read, refusal } from './parsing.ts'
import { types } from './types.ts'
import { clockOf, compare, Duration, durationMs, EntityTimeSpan, GeoPlace, memberOf, type Value, type ValueKind } from './values.ts'

/** A filter function. Each argument has the declared kind, or is undefined. */
interface FilterFunction {
  readonly takes: readonly ValueKind[]
  /** The last argument is optional. */
  readonly isLastOptional?: boolean
  readonly gives: ValueKind
  run(values: readonly Value[]): Value
}

const text = (value: Value): string => (typeof value === 'string' ? value : '')

const number = (value: Value): number => (typeof value === 'number' ? value : Number.NaN)

const ofTexts = (run: (one: string, other: string) => Value, gives: ValueKind = 'boolean'): FilterFunction => ({
  takes: ['text', 'text'],
  gives,
  run: ([one, other]) => run(text(one), text(other)),
})

const ofText = (run: (one: string) => Value, gives: ValueKind = 'text'): FilterFunction => ({
  takes: ['text'],
  gives,
  run: ([one]) => run(text(one)),
})

const ofNumber = (run: (one: number) => number): FilterFunction => ({
  takes: ['number'],
  gives: 'number',
  run: ([one]) => run(number(one)),
})

/** A function on the start of a time, in UTC. */
const ofTime = (run: (date: Date) => Value, gives: ValueKind = 'number'): FilterFunction => ({
  takes: ['time'],
  gives,
  run: ([time]) => {
    const date = new Date(time instanceof EntityTimeSpan ? time.fromMs : Number.NaN)
    return Number.isNaN(date.getTime()) ? undefined : run(date)
  },
})

const ofTimes = (run: (one: EntityTimeSpan, other: EntityTimeSpan) => boolean): FilterFunction => ({
  takes: ['time', 'time'],
  gives: 'boolean',
  run: ([one, other]) => one instanceof EntityTimeSpan && other instanceof EntityTimeSpan && run(one, other),
})

const ofPlaces = (run: (one: Geometry, other: Geometry) => Value, gives: ValueKind = 'boolean'): FilterFunction => ({
  takes: ['place', 'place'],
  gives,
  run: ([one, other]) => (one instanceof GeoPlace && other instanceof GeoPlace ? run(one.geometry, other.geometry) : undefined),
})

const meet = (one: Geometry, other: Geometry): boolean => {
  if (other.type === 'Polygon') return intersects(one, { polygon: other.coordinates })
  return one.type === 'Polygon' && intersects(other, { polygon: one.coordinates })
}

const lies = (one: Geometry, other: Geometry): boolean =>
  other.type === 'Polygon' &&
  positionsOf(one).every(position => intersects({ type: 'Point', coordinates: position }, { polygon: other.coordinates }))

const apart = (one: Geometry, other: Geometry): number => {
  const others = positionsOf(other)
  return Math.min(...positionsOf(one).flatMap(position => others.map(place => metresBetween(position, place))))
}

/** The supported filter functions, by name in lower case. */
const functions: ReadonlyMap<string, FilterFunction> = new Map<string, FilterFunction>([
  ['substringof', ofTexts((part, whole) => whole.includes(part))],
  ['contains', ofTexts((whole, part) => whole.includes(part))],
  ['startswith', ofTexts((whole, part) => whole.startsWith(part))],
  ['endswith', ofTexts((whole, part) => whole.endsWith(part))],
  ['indexof', ofTexts((whole, part) => whole.indexOf(part), 'number')],
  ['concat', ofTexts((one, other) => one + other, 'text')],
  ['length', ofText(one => one.length, 'number')],
  ['tolower', ofText(one => one.toLowerCase())],
  ['toupper', ofText(one => one.toUpperCase())],
  ['trim', ofText(one => one.trim())],
  [
    'substring',
    {
      takes: ['text', 'number', 'number'],
      isLastOptional: true,
      gives: 'text',
      run: ([one, from, length]) => {
        const start = Math.max(0, number(from))
        return text(one).slice(start, length === undefined ? undefined : start + Math.max(0, number(length)))
      },
    },
  ],
  ['round', ofNumber(one => Math.sign(one) * Math.round(Math.abs(one)))],
  ['floor', ofNumber(Math.floor)],
  ['ceiling', ofNumber(Math.ceil)],
  ['year', ofTime(date => date.getUTCFullYear())],
  ['month', ofTime(date => date.getUTCMonth() + 1)],
  ['day', ofTime(date => date.getUTCDate())],
  ['hour', ofTime(date => date.getUTCHours())],
  ['minute', ofTime(date => date.getUTCMinutes())],
  ['second', ofTime(date => date.getUTCSeconds())],
  ['fractionalseconds', ofTime(date => date.getUTCMilliseconds() / 1000)],
  ['totaloffsetminutes', ofTime(() => 0)],
  ['date', ofTime(date => date.toISOString().slice(0, 10), 'text')],
  ['time', ofTime(date => date.toISOString().slice(11, 23), 'time of day')],
  ['before', ofTimes((one, other) => one.toMs < other.fromMs)],
  ['after', ofTimes((one, other) => one.fromMs > other.toMs)],
  ['meets', ofTimes((one, other) => one.toMs === other.fromMs || one.fromMs === other.toMs)],
  ['during', ofTimes((one, other) => one.fromMs >= other.fromMs && one.toMs <= other.toMs)],
  ['overlaps', ofTimes((one, other) => one.fromMs <= other.toMs && one.toMs >= other.fromMs)],
  ['starts', ofTimes((one, other) => one.fromMs === other.fromMs)],
  ['finishes', ofTimes((one, other) => one.toMs === other.toMs)],
  ['st_within', ofPlaces(lies)],
  ['st_intersects', ofPlaces(meet)],
  ['geo.intersects', ofPlaces(meet)],
  ['st_disjoint', ofPlaces((one, other) => !meet(one, other))],
  ['geo.distance', ofPlaces(apart, 'number')],
  ['st_distance', ofPlaces(apart, 'number')],
])

/** Maximum number of properties, values, comparisons and functions in one filter. */
const maxTerms = 200

/** The entities that a filter reads: the entity itself under the empty path, and the targets of single-valued links under their paths. */
export type Seen = ReadonlyMap<string, Entity>

/** A compiled part of a filter. */
export interface Compiled {
  readonly kind: ValueKind
  /** True when it is the same for every entity. */
  readonly isConstant: boolean
  value(seen: Seen): Value
}

type GeoRings = readonly (readonly GeoPosition[])[]

/** Compiles filters on entities of one type. Throws `Invalid` with the position of anything unsupported. */
export class FilterCompiler {
  readonly #type: EntityType
  readonly #now: () => number
  readonly #of: string
  /** Paths of the links that the filter follows. */
  readonly paths = new Set<string>()
  #terms = 0

  constructor(type: EntityType, now: () => number, of: string) {
    this.#type = type
    this.#now = now
    this.#of = of
  }

  compile(what: ParsedFilter): Compiled {
    this.#terms += 1
    if (this.#terms > maxTerms) throw refusal(this.#of, what.at, `it has more than ${maxTerms} terms`)
    switch (what.is) {
      case 'literal':
        return this.#literal(what)
      case 'member':
        return this.#member(what)
      case 'call':
        return this.#call(what)
      case 'comparison': {
        const [one, other] = [this.compile(what.left), this.compile(what.right)]
        const [left, right] = [this.#clockBeside(other, what.left) ?? one, this.#clockBeside(one, what.right) ?? other]
        this.#mustMatch(left.kind, right.kind, what.right.at)
        return compiledCall('boolean', [left, right], ([one, other]) => compare(what.operator, one, other))
      }
      case 'not': {
        const inner = this.condition(what.what)
        return compiledCall('boolean', [inner], ([value]) => value !== true)
      }
      case 'and':
      case 'or':
        return this.#joined(what.is, what.of)
      case 'arithmetic':
        return this.#arithmetic(what)
    }
  }

  /** Like `compile`, for a part that must be boolean. */
  condition(what: ParsedFilter): Compiled {
    const compiled = this.compile(what)
    if (compiled.kind === 'boolean' || compiled.kind === 'any') return compiled
    throw refusal(this.#of, what.at, `a comparison such as name eq 'x' belongs here, not a ${compiled.kind}`)
  }

  #joined(is: 'and' | 'or', parts: readonly ParsedFilter[]): Compiled {
    const all = parts.map(part => this.condition(part))
    const value = (seen: Seen): boolean =>
      is === 'and' ? all.every(each => each.value(seen) === true) : all.some(each => each.value(seen) === true)
    return { kind: 'boolean', isConstant: all.every(each => each.isConstant), value }
  }

  /** A string compared with a time of day is parsed as one. */
  #clockBeside({ kind }: Compiled, what: ParsedFilter): Compiled | undefined {
    const isClock = kind === 'time of day' && what.is === 'literal' && what.kind === 'text'
    return isClock ? this.#clock(what.value, what.at) : undefined
  }

  #clock(text: string, at: number): Compiled {
    const clock = clockOf(text)
    if (clock === undefined) throw refusal(this.#of, at, `there is no time of day ${text}; they look like 12:30:00`)
    return constant('time of day', clock)
  }

  #mustMatch(left: ValueKind, right: ValueKind, at: number): void {
    if (left === 'place' || right === 'place')
      throw refusal(this.#of, at, 'places are compared by st_within, st_intersects or geo.distance')
    if (left === right || [left, right].some(kind => kind === 'any' || kind === 'null')) return
    const hint = left === 'time' && right === 'text' ? '; times stand without quotation marks' : ''
    throw refusal(this.#of, at, `a ${left} cannot be compared with a ${right}${hint}`)
  }

  #literal(literal: ParsedLiteral): Compiled {
    switch (literal.kind) {
      case 'time':
        return constant('time', new EntityTimeSpan(this.#ms(literal.value, literal.at)))
      case 'span':
        return constant('time', this.#span(literal.value, literal.at))
      case 'time of day':
        return this.#clock(literal.value, literal.at)
      case 'duration': {
        const ms = durationMs(literal.value)
        if (ms === undefined) throw refusal(this.#of, literal.at, "a duration looks like duration'P1DT12H30M5.5S'")
        return constant('duration', new Duration(ms))
      }
      case 'geography':
        return constant('place', this.#place(literal.value, literal.at))
      default:
        return constant(literal.kind, literal.value)
    }
  }

  #ms(text: string, at: number): number {
    const ms = msOfTime(text)
    if (ms === undefined) throw refusal(this.#of, at, `there is no time ${text}`)
    return ms
  }

  #span([from, to]: readonly [string, string], at: number): EntityTimeSpan {
    const span = new EntityTimeSpan(this.#ms(from, at), this.#ms(to, at))
    if (span.toMs < span.fromMs) throw refusal(this.#of, at, 'the span ends before it begins')
    return span
  }

  #place(text: string, at: number): GeoPlace {
    const geometry = read('Wkt', text, `${this.#of}, geography at position ${at + 1}`)
    const fault = geometryFault(geometry.type === 'Polygon' ? { ...geometry, coordinates: withinEdges(geometry.coordinates) } : geometry)
    if (fault !== undefined) throw refusal(this.#of, at, fault)
    return new GeoPlace(geometry)
  }

  #member({ names, at }: ParsedMember): Compiled {
    const [path, rest, type] = this.#follow(names, at)
    const name = rest[0] === '@iot.id' ? 'id' : rest[0]
    const kind = name !== undefined && Object.hasOwn(type.fields, name) ? type.fields[name] : undefined
    if (name === undefined || kind === undefined)
      throw refusal(this.#of, at, `${type.set} have no property ${name ?? ''} to filter by, but ${Object.keys(type.fields).join(', ')}`)
    const below = rest.slice(1)
    if (below.length > 0 && kind !== 'any' && kind !== 'place') throw refusal(this.#of, at, `${name} has no properties`)
    if (path !== '') this.paths.add(path)
    return {
      kind: below.length > 0 ? 'any' : kind,
      isConstant: false,
      value: seen => below.reduce(memberOf, seen.get(path)?.field(name)),
    }
  }

  /** Follows single-valued links. */
  #follow(names: readonly string[], at: number): readonly [string, readonly string[], EntityType] {
    let type = this.#type
    for (const [index, name] of names.entries()) {
      const link = Object.hasOwn(type.links, name) ? type.links[name] : undefined
      if (link === undefined) return [names.slice(0, index).join('/'), names.slice(index), type]
      if (!link.isSure) throw refusal(this.#of, at, `filters do not look through ${name}, of which there may be many`)
      if (index >= 3) throw refusal(this.#of, at, 'filters look through at most 3 links')
      type = types[link.to]
    }
    return [names.join('/'), [], type]
  }

  #call({ name, of, at }: ParsedCall): Compiled {
    const known = name.toLowerCase()
    if (known === 'now' && of.length === 0) return constant('time', new EntityTimeSpan(this.#now()))
    const one = functions.get(known)
    if (one === undefined) throw refusal(this.#of, at, `the function ${name} is not offered, but ${[...functions.keys()].join(', ')}`)
    const { takes, isLastOptional = false, gives, run } = one
    if (of.length > takes.length || of.length < takes.length - (isLastOptional ? 1 : 0))
      throw refusal(this.#of, at, `${name} takes ${takes.length} values, not ${of.length}`)
    const parts = of.map(part => this.compile(part))
    for (const [index, part] of parts.entries())
      if (part.kind !== 'any' && part.kind !== takes[index] && !(part.kind === 'time of day' && takes[index] === 'text'))
        throw refusal(this.#of, of[index]?.at ?? at, `${name} takes a ${takes[index]} here, not a ${part.kind}`)
    if (takes[0] === 'place') this.#mustBeGiven(known, of, at)
    return compiledCall(gives, parts, values => (values.every((value, index) => isOf(value, takes[index])) ? run(values) : undefined))
  }

  /** Locations are compared with a constant in the filter. */
  #mustBeGiven(name: string, of: readonly ParsedFilter[], at: number): void {
    const wanted = name.endsWith('distance') ? 'POINT' : 'POLYGON'
    const isGiven = (name === 'st_within' ? of.slice(1) : of).some(
      part => part.is === 'literal' && part.kind === 'geography' && part.value.toUpperCase().includes(wanted),
    )
    if (!isGiven) throw refusal(this.#of, at, `${name} takes a property and geography'${wanted}...'`)
  }

  #arithmetic({ operator, left: one, right: other, at }: Extract<ParsedFilter, { is: 'arithmetic' }>): Compiled {
    const [left, right] = [this.compile(one), this.compile(other)]
    const kind = resultOf(operator, left.kind, right.kind)
    if (kind === undefined) throw refusal(this.#of, at, `a ${left.kind} and a ${right.kind} have no ${operator}`)
    return compiledCall(kind, [left, right], ([a, b]) => reckon(operator, a, b))
  }
}

const farthestDegrees = 10_000

/** Map clients pan beyond the edges of the world, and request everything visible: a box. Any other shape outside the world is an error. */
const withinEdges = (polygon: GeoRings): GeoRings => {
  const [positions = [], ...holes] = polygon
  const [longitudes, latitudes] = [0, 1].map(at => [...new Set(positions.map(position => position[at] ?? 0))])
  const isBox = holes.length === 0 && positions.length === 5 && longitudes?.length === 2 && latitudes?.length === 2
  const isNear = positions.flat().every(degrees => Math.abs(degrees) <= farthestDegrees)
  const within = (degrees: number | undefined, max: number): number => Math.min(Math.max(degrees ?? 0, -max), max)
  return isBox && isNear ? [positions.map(([longitude, latitude]) => [within(longitude, 180), within(latitude, 90)])] : polygon
}

const constant = (kind: ValueKind, value: Value): Compiled => ({ kind, isConstant: true, value: () => value })

const compiledCall = (kind: ValueKind, parts: readonly Compiled[], run: (values: readonly Value[]) => Value): Compiled => ({
  kind,
  isConstant: parts.every(part => part.isConstant),
  value: seen => run(parts.map(part => part.value(seen))),
})

const isOf = (value: Value, kind: ValueKind | undefined): boolean => {
  if (kind === 'time') return value instanceof EntityTimeSpan
  if (kind === 'place') return value instanceof GeoPlace
  return kind === 'number' ? typeof value === 'number' : typeof value === 'string'
}

const resultOf = (operator: Reckoning, left: ValueKind, right: ValueKind): ValueKind | undefined => {
  const isNumber = (kind: ValueKind): boolean => kind === 'number' || kind === 'any'
  if (isNumber(left) && isNumber(right)) return 'number'
  if (operator !== 'add' && operator !== 'sub') return undefined
  if (left === 'time' && right === 'duration') return 'time'
  return left === 'time' && right === 'time' && operator === 'sub' ? 'duration' : undefined
}

const reckon = (operator: Reckoning, one: Value, other: Value): Value => {
  if (one instanceof EntityTimeSpan) {
    if (other instanceof EntityTimeSpan) return new Duration(one.fromMs - other.fromMs)
    const ms = other instanceof Duration ? other.ms * (operator === 'sub' ? -1 : 1) : Number.NaN
    return Number.isNaN(ms) ? undefined : new EntityTimeSpan(one.fromMs + ms, one.toMs + ms)
  }
  if (typeof one !== 'number' || typeof other !== 'number') return undefined
  const result = { add: one + other, sub: one - other, mul: one * other, div: one / other, mod: one % other }[operator]
  return Number.isFinite(result) ? result : undefined
}
