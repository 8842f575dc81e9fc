import type { Json } from '../ports/document-store.ts'
import type { Datapoint, GeoAttribute } from '../ports/geo-store.ts'

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Whether one JSON value contains another, as `GeoAttribute` says. */
export const containsJson = (whole: Json, part: Json): boolean => {
  if (isList(whole) || isList(part))
    return isList(whole) && isList(part) && part.every(each => whole.some(other => containsJson(other, each)))
  if (typeof whole !== 'object' || typeof part !== 'object' || whole === null || part === null) return whole === part
  return Object.entries(part).every(([key, inner]) => Object.hasOwn(whole, key) && containsJson(whole[key] as Json, inner))
}

/** Whether the properties of a point have an attribute. */
export const hasAttribute = (properties: Datapoint['properties'], { key, contains }: GeoAttribute): boolean =>
  Object.hasOwn(properties, key) && (contains === undefined || containsJson(properties[key] as Json, contains))
