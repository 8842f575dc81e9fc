import type { GeoArea } from 'pounce/sdk'
import { boxAround, type GeoBox } from 'pounce/sdk/geo'

/** Less than a degree of latitude is long anywhere, in metres. */
const degreeMetres = 111_000

const circleBoxes = ({ longitude, latitude, radiusMetres }: Extract<GeoArea, { circle: object }>['circle']): readonly GeoBox[] => {
  const high = radiusMetres / degreeMetres + 0.001
  const [south, north] = [latitude - high, latitude + high]
  // A circle around a pole reaches every longitude.
  if (south <= -89 || north >= 89) return [[-180, Math.max(-90, south), 180, Math.min(90, north)]]
  const wide = high / Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180)
  if (wide >= 180) return [[-180, south, 180, north]]
  const [west, east] = [longitude - wide, longitude + wide]
  if (west < -180) return splitAt([west + 360, south, east, north])
  return east > 180 ? splitAt([west, south, east - 360, north]) : [[west, south, east, north]]
}

const splitAt = ([west, south, east, north]: GeoBox): readonly GeoBox[] => [
  [west, south, 180, north],
  [-180, south, east, north],
]

/** Boxes that do not cross the antimeridian and hold the whole area. */
export const boxesOf = (area: GeoArea): readonly GeoBox[] => {
  if ('circle' in area) return circleBoxes(area.circle)
  if ('polygon' in area) return [boxAround(area.polygon.flat())]
  return area.box[0] <= area.box[2] ? [area.box] : splitAt(area.box)
}
