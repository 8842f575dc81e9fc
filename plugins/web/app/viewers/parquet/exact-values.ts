import { type FileMetaData, type ParquetParsers, parquetSchema, type SchemaElement } from 'hyparquet'

/** Up to this many digits every decimal is a distinct number. */
const maxNumberDigits = 15

/** A time with the digits below milliseconds that `Date` lacks. */
class FineDate extends Date {
  #rest: string

  constructor(count: bigint, perMillisecond: bigint) {
    // Rounded down, also before 1970.
    const rest = ((count % perMillisecond) + perMillisecond) % perMillisecond
    super(Number((count - rest) / perMillisecond))
    this.#rest = rest === 0n ? '' : String(rest).padStart(String(perMillisecond).length - 1, '0')
  }

  override toISOString(): string {
    return super.toISOString().replace('Z', `${this.#rest}Z`)
  }
}

/** Parsers that keep all digits of a time. */
export const exactTimes: Partial<ParquetParsers> = {
  timestampFromMicroseconds: micros => new FineDate(micros, 1000n),
  timestampFromNanoseconds: nanos => new FineDate(nanos, 1_000_000n),
}

type Raw = number | bigint | Uint8Array

/** A signed integer in big-endian order. */
const integerOf = (raw: Raw): bigint => {
  if (!(raw instanceof Uint8Array)) return BigInt(raw)
  let value = 0n
  for (const byte of raw) value = value * 256n + BigInt(byte)
  return BigInt.asIntN(8 * raw.length, value)
}

const decimalOf = (raw: Raw, scale: number): string => {
  const value = integerOf(raw)
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const fraction = digits.slice(digits.length - scale)
  return `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${scale === 0 ? '' : `.${fraction}`}`
}

/**
 * Metadata in which decimals of more digits than a number keeps are declared as integers, so that the library does not round them, and functions that
 * format them, by column.
 */
export const withExactDecimals = (metadata: FileMetaData) => {
  const columns = parquetSchema(metadata).children.filter(({ children }) => children.length === 0)
  const rounded = columns
    .map(({ element }) => element)
    .filter(
      ({ converted_type, repetition_type, precision = 0 }) =>
        converted_type === 'DECIMAL' && repetition_type !== 'REPEATED' && precision > maxNumberDigits,
    )
  const formats = new Map(rounded.map(({ name, scale = 0 }) => [name, (raw: Raw) => decimalOf(raw, scale)] as const))
  const schema = metadata.schema.map((element): SchemaElement => {
    if (!rounded.includes(element)) return element
    const { converted_type: _, logical_type: __, ...plain } = element
    return plain
  })
  return { metadata: { ...metadata, schema }, formats }
}
