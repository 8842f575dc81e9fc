import type { GeoBinning } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import { isGeoTime } from './check-datapoint.ts'
import { isTimeBin } from './time-bins.ts'

const leastMs = 1000
const maxGroups = 4
const maxProperties = 1000

/** Throws `Invalid` when a way to sum up is not one that stores take; the message names the part. */
export const checkBinning = ({ time, depthMetres, groupBy = [], properties = [] }: GeoBinning): void => {
  const isSpan =
    typeof time === 'string' ? isTimeBin(time) : Number.isSafeInteger(time.everyMs) && time.everyMs >= leastMs && isGeoTime(time.originMs)
  if (!isSpan) throw new Invalid(`time is a named span, or one of at least ${leastMs} whole milliseconds with an origin`)
  if (depthMetres !== undefined && !(Number.isFinite(depthMetres) && depthMetres > 0)) throw new Invalid('depth must be more than 0 metres')
  if (groupBy.length > maxGroups) throw new Invalid(`groupBy: at most ${maxGroups} properties, not ${groupBy.length}`)
  if (properties.length > maxProperties) throw new Invalid(`properties: at most ${maxProperties}, not ${properties.length}`)
}
