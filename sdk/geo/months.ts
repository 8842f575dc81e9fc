import type { GeoFilter } from '../ports/geo-store.ts'

const monthOf = (ms: number): number => {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Whether a span of time overlaps some months of any year, as `GeoFilter.months` says. */
export const overlapsMonths = (
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number | null },
  { from, to }: NonNullable<GeoFilter['months']>,
): boolean => {
  const first = monthOf(startMs)
  const last = endMs === null || endMs === startMs ? first : monthOf(endMs)
  for (let month = first; month <= last && month < first + 12; month += 1) {
    // Months of years before 0 count below 0.
    const number = (((month % 12) + 12) % 12) + 1
    if (from <= to ? number >= from && number <= to : number >= from || number <= to) return true
  }
  return false
}
