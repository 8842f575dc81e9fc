/** Prints a time as Clowder 1.x does: `2017-01-25T09:30:00Z`, UTC, no fraction; null stays null. */
export function showTime(time: Date | string | number): string
export function showTime(time: Date | string | number | null): string | null
export function showTime(time: Date | string | number | null): string | null {
  return time === null ? null : `${new Date(time).toISOString().slice(0, 19)}Z`
}
