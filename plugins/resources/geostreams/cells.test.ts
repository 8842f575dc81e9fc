import test from 'ava'
import type { GeoArea, Geometry, GeoPosition } from 'pounce/sdk/geo'
import { intersects } from 'pounce/sdk/geo'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { cellsOf, cellsToSearch } from './cells.ts'

const chance = seededRandom()
/** Locations where borders of cells, hemispheres and the map coincide: neighbours are most easily missed there. */
const longitudes = [-180, -179.999, -90, -0.001, 0, 22.5, 90, 179.999, 180]
const latitudes = [-90, -89.999, -45, 0, 11.25, 45, 89.999, 90]
const between = (least: number, most: number): number => least + ((most - least) * chance.int(1_000_001)) / 1_000_000
const longitude = (): number => (chance.oneIn(4) ? chance.pick(longitudes) : between(-180, 180))
const latitude = (): number => (chance.oneIn(4) ? chance.pick(latitudes) : between(-90, 90))
const place = (): GeoPosition => [longitude(), latitude()]
const size = (): number => chance.pick([0, 0.0001, 0.01, 0.5, 5, 40, 170])
const near = ([x = 0, y = 0]: GeoPosition, by: number): GeoPosition => [
  Math.max(-180, Math.min(180, x + between(-by, by))),
  Math.max(-90, Math.min(90, y + between(-by, by))),
]
const some = (least: number, most: number, one: () => GeoPosition): GeoPosition[] =>
  Array.from({ length: least + chance.int(most - least + 1) }, one)
const ring = (): readonly GeoPosition[] => {
  const [middle, by] = [place(), size()]
  const first = near(middle, by)
  return [first, ...some(2, 5, () => near(middle, by)), first]
}
const line = (): readonly GeoPosition[] => {
  const [middle, by] = [place(), size()]
  return some(2, 5, () => near(middle, by))
}
const geometry = (): Geometry =>
  chance.pick<() => Geometry>([
    () => ({ type: 'Point', coordinates: place() }),
    () => ({ type: 'Point', coordinates: place() }),
    () => ({ type: 'MultiPoint', coordinates: some(1, 12, place) }),
    () => ({ type: 'LineString', coordinates: line() }),
    () => ({ type: 'Polygon', coordinates: [ring()] }),
    () => ({ type: 'MultiPolygon', coordinates: [[ring()], [ring()]] }),
    () => ({ type: 'GeometryCollection', geometries: [geometry(), { type: 'Point', coordinates: place() }] }),
  ])()
const area = (): GeoArea =>
  chance.pick<() => GeoArea>([
    () => {
      const [south, north] = [latitude(), latitude()].toSorted((one, other) => one - other) as [number, number]
      return { box: [longitude(), south, longitude(), north] }
    },
    () => {
      const [x = 0, y = 0] = place()
      const by = size()
      return { box: [Math.max(-180, x - by), Math.max(-90, y - by), Math.min(180, x + by), Math.min(90, y + by)] }
    },
    () => ({ polygon: [ring()] }),
    () => ({
      circle: { longitude: longitude(), latitude: latitude(), radiusMetres: chance.pick([0, 1, 500, 2e4, 5e5, 5e6, 1.5e7, 2e7]) },
    }),
  ])()

test('every geometry that touches an area shares a cell with it', t => {
  t.log(`seed ${chance.seed}`)
  const records = Array.from({ length: 400 }, geometry).map(each => ({ each, cells: cellsOf(each) }))
  let touched = 0
  for (let round = 0; round < 400; round += 1) {
    const areas = Array.from({ length: 1 + chance.int(3) }, area)
    const searched = new Set(cellsToSearch(areas))
    for (const { each, cells } of records) {
      if (!areas.some(one => intersects(each, one))) continue
      touched += 1
      if (!cells.some(cell => searched.has(cell)))
        return t.fail(`${JSON.stringify(each)} is not found in ${JSON.stringify(areas)} (seed ${chance.seed})`)
    }
  }
  t.true(touched > 1000, `${touched} touched`)
})

test('records and searches of any size have few cells', t => {
  for (let round = 0; round < 500; round += 1) {
    const cells = cellsOf(geometry())
    t.true(cells.length > 0 && cells.length <= 72, `${cells.length} of a record`)
    t.is(new Set(cells).size, cells.length)
    const searched = cellsToSearch(Array.from({ length: 1 + chance.int(100) }, area))
    t.true(searched.length > 0 && searched.length <= 160, `${searched.length} to search`)
  }
})

test('a search of a small area reads few of many locations', t => {
  const records = Array.from({ length: 20_000 }, () => cellsOf({ type: 'Point', coordinates: place() }))
  const box: GeoArea = { box: [7.0001, 50.0001, 7.5, 50.4] }
  for (const one of [
    box,
    { circle: { longitude: 179.99, latitude: 10, radiusMetres: 30_000 } },
    {
      polygon: [
        [
          [7, 1],
          [7, 2],
          [8, 2],
          [7, 1],
        ],
      ],
    },
  ]) {
    const searched = new Set(cellsToSearch([one]))
    const candidates = records.filter(cells => cells.some(cell => searched.has(cell))).length
    t.true(candidates < 100, `${candidates} candidates`)
  }
})
