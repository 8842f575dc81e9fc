import { type Datapoint, Invalid, type Json } from 'pounce/sdk'
import { altitudeOf, spansOf } from 'pounce/sdk/geo'
import type { BinEntry } from './bin-entry.ts'
import { type BinQuestion, noDepthCode, special } from './bin-question.ts'
import type { BinTime } from './bin-times.ts'
import { byCodePoint } from './by-code-point.ts'

/** Values of one sensor that are kept until it is written. */
const mostValues = 2_000_000

interface Growing {
  readonly time: BinTime
  readonly depth: number
  readonly depthCode: string
  readonly sources: Set<string>
  readonly doubles: number[]
  readonly strings: Set<string>
  readonly array: Set<string>
}

type Wanted = (name: string) => boolean
type Where = Pick<Growing, 'time' | 'depth' | 'depthCode'>

const isObject = (value: Json | undefined): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
/** As stores group: a text as it is, a number or boolean as JSON. */
const textOf = (value: Json | undefined): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : null

/** Bins with all values that are in them. */
export class RawEntries {
  readonly #question: Pick<BinQuestion, 'times' | 'depthMetres'>
  readonly #found = new Map<string, Map<string, Growing>>()
  #values = 0

  constructor(question: Pick<BinQuestion, 'times' | 'depthMetres'>) {
    this.#question = question
  }

  /** Takes all that a reading tells. */
  add(point: Datapoint, isWanted: Wanted): void {
    this.#take(point, isWanted)
  }

  /** Takes those of its properties that are objects. */
  addObjects(point: Datapoint, isWanted: Wanted): void {
    this.#take(point, name => isWanted(name) && isObject(point.properties[name]))
  }

  /** By property. Without an order within one. Bins of nothing but texts drop out. */
  *all(isRaw: boolean): Iterable<readonly [property: string, entries: readonly BinEntry[]]> {
    const found = [...this.#found].sort(([one], [other]) => byCodePoint(one, other))
    for (const [property, bins] of found) {
      const entries = [...bins.values()].filter(({ doubles, array }) => doubles.length > 0 || array.size > 0)
      if (entries.length > 0) yield [property, entries.map(entry => entryOf(entry, isRaw))]
    }
  }

  #take(point: Datapoint, isWanted: Wanted): void {
    const { properties } = point
    const names = Object.keys(properties).filter(isWanted)
    if (names.length === 0) return
    const source = textOf(own(properties, special.source))
    for (const where of this.#whereOf(point))
      for (const name of names) {
        const bin = this.#bin(name, where)
        if (source) bin.sources.add(source)
        keep(bin, properties[name] ?? null)
        this.#values += 1
        if (this.#values > mostValues)
          throw new Invalid(`More than ${mostValues} distinct values of a sensor: filter by stream or attributes, or use a shorter period`)
      }
  }

  #whereOf({ startMs, endMs, geometry, properties }: Datapoint): readonly Where[] {
    const { times, depthMetres } = this.#question
    const depth = depthMetres === undefined ? 0 : depthMetres * Math.ceil(altitudeOf(geometry) / depthMetres) + 0
    const depthCode = textOf(own(properties, special.depthCode)) ?? noDepthCode
    return spansOf(startMs, endMs, times.time).map(span => ({ time: times.of(span), depth, depthCode }))
  }

  #bin(property: string, { time, depth, depthCode }: Where): Growing {
    const bins = this.#found.get(property) ?? new Map<string, Growing>()
    if (bins.size === 0) this.#found.set(property, bins)
    const key = `${depth} ${time.label} ${depthCode}`
    const bin = bins.get(key) ?? { time, depth, depthCode, sources: new Set(), doubles: [], strings: new Set(), array: new Set() }
    bins.set(key, bin)
    return bin
  }
}

const own = (properties: Datapoint['properties'], name: string): Json | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined

const keep = ({ doubles, strings, array }: Growing, value: Json): void => {
  if (typeof value === 'number') doubles.push(value)
  else if (isObject(value)) array.add(JSON.stringify(value))
  else if (typeof value === 'string' ? value !== '' : value !== null) strings.add(typeof value === 'string' ? value : JSON.stringify(value))
}

const entryOf = ({ doubles, strings, array, sources, ...where }: Growing, isRaw: boolean): BinEntry => ({
  ...where,
  sources: [...sources],
  array: [...array],
  count: doubles.length,
  sum: doubles.reduce((sum, value) => sum + value, 0),
  min: doubles.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY),
  max: doubles.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY),
  ...(isRaw ? { raw: { doubles, strings: [...strings] } } : {}),
})
