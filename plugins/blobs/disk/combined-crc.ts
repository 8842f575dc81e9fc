import { blockBytes } from './disk-block-checksums.ts'

/** The polynomial of CRC-32 with its bits the other way round, as in `zlib.crc32`. */
const polynomial = 0xedb88320
const one = 0x80000000

/** The product of two polynomials, modulo that of the CRC. */
const times = (a: number, b: number): number => {
  let product = 0
  let factor = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial
  }
  return product >>> 0
}

/** What a CRC is multiplied by when so many bytes come behind it: x to the power of 8 for each of them. */
const shiftOf = (bytes: number): number => {
  let shift = one
  // x itself, then its powers of 2, 4, 8 …; there are eight bits to a byte.
  let power = 0x40000000
  for (let left = bytes * 8; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = times(power, shift)
    power = times(power, power)
  }
  return shift
}

const wholeBlock = shiftOf(blockBytes)

/** The CRC-32 of all bytes, from those of their blocks: what `zlib.crc32` would give for the whole. */
export const combinedCrc = (sums: Uint32Array, sizeBytes: number): number => {
  let crc = 0
  for (const [at, sum] of sums.entries()) {
    const isLast = at === sums.length - 1
    crc = (times(isLast ? shiftOf(sizeBytes - at * blockBytes) : wholeBlock, crc) ^ sum) >>> 0
  }
  return crc
}
