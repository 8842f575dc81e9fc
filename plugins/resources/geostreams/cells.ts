import type { GeoArea, Geometry, GeoPosition } from 'pounce/sdk/geo'
import { boxAround, boxesAcross, boxesAroundPolygon, type GeoBox, partsOf } from 'pounce/sdk/geo'

/**
 * Each level divides the Earth into 2^level columns and rows; finer levels are not worth their index entries. A cell includes its western
 * and southern border, so that every point is in one cell per level.
 */
const levels = [0, 2, 4, 6, 8, 10, 12, 14] as const
const finest = 14
/** A geometry that touches more cells than this is too large for a level and for finer ones. */
const maxOfRecord = 8
/** Maximum number of cells that a search covers at its finest level. */
const maxOfSearch = 40
/** Metres per degree of latitude on the sphere that `touches` uses. */
const metresPerDegree = (6_371_008.8 * Math.PI) / 180
/** Tolerance, so that rounding does not exclude a neighbouring cell. */
const slack = 1e-9

/** Columns and rows, inclusive. */
type Block = readonly [west: number, south: number, east: number, north: number]

const column = (degrees: number, span: number, level: number): number => {
  const count = 2 ** level
  return Math.min(count - 1, Math.max(0, Math.floor(((degrees + span / 2) / span) * count)))
}

const blockOf = ([west, south, east, north]: GeoBox, level: number): Block => [
  column(west, 360, level),
  column(south, 180, level),
  column(east, 360, level),
  column(north, 180, level),
]

const sizeOf = ([west, south, east, north]: Block): number => (east - west + 1) * (north - south + 1)

const cellsOfBlock = ([west, south, east, north]: Block, level: number): readonly string[] => {
  const cells: string[] = []
  for (let x = west; x <= east; x += 1) for (let y = south; y <= north; y += 1) cells.push(`${level}/${x}/${y}`)
  return cells
}

/** Cells that boxes touch at a level; undefined for more than `maxCells`. */
const cellsAt = (boxes: readonly GeoBox[], level: number, maxCells: number): ReadonlySet<string> | undefined => {
  const cells = new Set<string>()
  for (const box of boxes) {
    const block = blockOf(box, level)
    if (sizeOf(block) > maxCells) return undefined
    for (const cell of cellsOfBlock(block, level)) cells.add(cell)
    if (cells.size > maxCells) return undefined
  }
  return cells
}

const boxesOf = (geometry: Geometry): readonly GeoBox[] => {
  const { points, lines, polygons } = partsOf(geometry)
  const around = (positions: readonly GeoPosition[]): GeoBox => boxAround(positions)
  return [...points.map(point => around([point])), ...lines.map(around), ...polygons.map(rings => around(rings.flat()))]
}

/**
 * The cells of a record: those that it touches at each level, and at the finest level that it is not too large for, again with a mark for
 * searches at finer levels.
 */
export const cellsOf = (geometry: Geometry): readonly string[] => {
  const boxes = boxesOf(geometry)
  const all: string[] = []
  let last: readonly string[] = []
  for (const level of levels) {
    const cells = cellsAt(boxes, level, maxOfRecord)
    if (!cells) break
    last = [...cells]
    all.push(...last)
  }
  return all.length > 0 && last[0]?.startsWith(`${finest}/`) ? all : [...all, ...last.map(cell => `=${cell}`)]
}

const wrapped = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180

/** Boxes that cover a circle. */
const aroundCircle = ({ longitude, latitude, radiusMetres }: Extract<GeoArea, { circle: unknown }>['circle']): readonly GeoBox[] => {
  const reach = radiusMetres / metresPerDegree + slack
  const [south, north] = [Math.max(-90, latitude - reach), Math.min(90, latitude + reach)]
  const ratio = Math.sin(Math.min(90, reach) * (Math.PI / 180)) / Math.cos(latitude * (Math.PI / 180))
  if (latitude + reach >= 90 || latitude - reach <= -90 || ratio >= 1) return [[-180, south, 180, north]]
  const aside = Math.asin(ratio) * (180 / Math.PI) + slack
  if (longitude - aside < -180 || longitude + aside > 180) {
    const [west, east] = [wrapped(longitude - aside), wrapped(longitude + aside)]
    return boxesAcross([west, south, east, north])
  }
  // For circles, both ends of the antimeridian are the same place.
  const edges: GeoBox[] = []
  if (longitude - aside <= -180 + slack) edges.push([180, south, 180, north])
  if (longitude + aside >= 180 - slack) edges.push([-180, south, -180, north])
  return [[longitude - aside, south, longitude + aside, north], ...edges]
}

const boxesAround = (area: GeoArea): readonly GeoBox[] => {
  if ('box' in area) return boxesAcross(area.box)
  return 'circle' in area ? aroundCircle(area.circle) : boxesAroundPolygon(area.polygon)
}

/** Cells that contain every record that touches one of the areas, among others: each result must still be tested. */
export const cellsToSearch = (areas: readonly GeoArea[]): readonly string[] => {
  const boxes = areas.flatMap(boxesAround)
  let found: readonly string[] = []
  const coarser: string[] = []
  for (const level of levels) {
    const cells = cellsAt(boxes, level, maxOfSearch)
    if (!cells) break
    coarser.push(...found.map(cell => `=${cell}`))
    found = [...cells]
  }
  return [...found, ...coarser]
}
