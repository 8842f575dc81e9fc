import type { Json } from '../ports/document-store.ts'
import type { Datapoint, GeoAttribute, GeoFilter } from '../ports/geo-store.ts'

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Whether one JSON value contains another, as defined by `GeoAttribute`. */
export const containsJson = (whole: Json, part: Json): boolean => {
  if (isList(whole) || isList(part))
    return isList(whole) && isList(part) && part.every(each => whole.some(other => containsJson(other, each)))
  if (typeof whole !== 'object' || typeof part !== 'object' || whole === null || part === null) return whole === part
  return Object.entries(part).every(([key, inner]) => Object.hasOwn(whole, key) && containsJson(whole[key] as Json, inner))
}

/** Whether the properties of a datapoint match an attribute. */
export const hasAttribute = (properties: Datapoint['properties'], { key, contains }: GeoAttribute): boolean =>
  Object.hasOwn(properties, key) && (contains === undefined || containsJson(properties[key] as Json, contains))

const monthOf = (ms: number): number => {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Whether a time span overlaps the given months of any year, as defined by `GeoFilter.months`. */
export const overlapsMonths = (
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number | null },
  { from, to }: NonNullable<GeoFilter['months']>,
): boolean => {
  const first = monthOf(startMs)
  const last = endMs === null || endMs === startMs ? first : monthOf(endMs)
  for (let month = first; month <= last && month < first + 12; month += 1) {
    // Months before year 0 are negative.
    const number = (((month % 12) + 12) % 12) + 1
    if (from <= to ? number >= from && number <= to : number >= from || number <= to) return true
  }
  return false
}
