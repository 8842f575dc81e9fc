const units = [
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
] as const

/** A wait in messages for people, rounded up: `90 seconds`, `15 minutes`, `2 hours`. */
export const durationText = (seconds: number): string => {
  // Below two of a unit, the next smaller one is more precise.
  const { unit, seconds: each } = units.find(one => seconds >= 2 * one.seconds) ?? { unit: 'second', seconds: 1 }
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(Math.ceil(seconds / each))
}
