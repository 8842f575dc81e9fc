import { type ByteRange, Invalid } from 'pounce/sdk'

/** Throws `Invalid` for a range that is not wholly inside that many bytes. */
export function checkRange({ start, end }: ByteRange, sizeBytes: number): void {
  const isInside = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end < sizeBytes
  if (!isInside) throw new Invalid(`The range ${start}-${end} is not inside these ${sizeBytes} bytes`)
}
