/** What a typed value can be meant as: text that reads as a number or a date is that too. */
export function readings(value: string | number | Date): readonly (string | number | Date)[] {
  if (value instanceof Date) return [value]
  if (typeof value === 'number') return [value, String(value)]
  const number = value.trim() === '' ? Number.NaN : Number(value)
  const date = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/.test(value.trim()) ? new Date(value.trim()) : undefined
  return [value, ...(Number.isFinite(number) ? [number] : []), ...(date && !Number.isNaN(date.getTime()) ? [date] : [])]
}
