import type { Datapoint, GeoAttribute, GeoFilter, Geometry } from 'pounce/sdk'
import { hasAttribute, overlapsMonths, touches } from 'pounce/sdk/geo'
import { at, type PointRow, startOf } from './rows.ts'
import type { ShapeCache } from './shape-cache.ts'
import type { RowTest } from './source.ts'

type Properties = Datapoint['properties']

/** What of a filter is tested on each row. `places` are those that the areas have. */
export interface Tested {
  readonly filter: GeoFilter
  readonly places: ReadonlySet<number> | undefined
}

const endOf = (row: PointRow): number | null => {
  const span = row[at.span] as number | null
  return span === null ? null : startOf(row) + span
}

/** A test of rows for exactly what a filter says. Only what the filter has is looked at. */
export const rowTest = ({ filter, places }: Tested, shapes: ShapeCache): RowTest => {
  const tests = [...timeTests(filter)]
  const { areas, attributes } = filter
  if (areas && places) {
    tests.push(row => {
      const own = row[at.geometry]
      if (typeof own !== 'string') return places.has(row[at.place] as number)
      const geometry = JSON.parse(own) as Geometry
      return areas.some(area => touches(geometry, area))
    })
  }
  if (attributes) tests.push(attributeTest(attributes, shapes))
  const [only, ...more] = tests
  if (only === undefined) return () => true
  return more.length === 0 ? only : row => tests.every(test => test(row))
}

function* timeTests({ fromMs, beforeMs, untilMs, months }: GeoFilter): Iterable<RowTest> {
  if (beforeMs !== undefined) yield row => startOf(row) < beforeMs
  if (fromMs !== undefined) yield row => startOf(row) >= fromMs
  if (untilMs !== undefined) {
    yield row => {
      const endMs = endOf(row)
      return endMs !== null && endMs <= untilMs
    }
  }
  if (months) yield row => overlapsMonths({ startMs: startOf(row), endMs: endOf(row) }, months)
}

/** What is known of all points of a shape, or how to tell from a row. */
const attributeTest = (attributes: readonly GeoAttribute[], shapes: ShapeCache): RowTest => {
  const tests: (RowTest | undefined)[] = []
  return row => {
    const shape = row[at.shape] as number
    tests[shape] ??= shapeTest(attributes, shapes.get(shape).names, shapes.get(shape).others)
    return tests[shape](row)
  }
}

const shapeTest = (attributes: readonly GeoAttribute[], names: readonly string[], others: Properties): RowTest => {
  const numbers: (readonly [column: number, value: number])[] = []
  for (const attribute of attributes) {
    const column = names.indexOf(attribute.key)
    if (column < 0 ? hasAttribute(others, attribute) : attribute.contains === undefined) return () => true
    if (column >= 0 && typeof attribute.contains === 'number') numbers.push([at.values + column, attribute.contains])
  }
  const besides = attributes.filter(({ key }) => !names.includes(key))
  return row => {
    if (numbers.some(([cell, value]) => row[cell] === value)) return true
    const rest = row[at.rest]
    if (typeof rest !== 'string' || besides.length === 0) return false
    const own = JSON.parse(rest) as Properties
    return besides.some(attribute => hasAttribute(own, attribute))
  }
}
