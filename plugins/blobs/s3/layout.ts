import { randomBytes } from 'node:crypto'

const kiB = 1024

const MiB = kiB * kiB

/** Parts double in length after this many. */
const partsPerStage = 1000

const stageCount = 10

const firstPartBytes = 6 * MiB

const firstBlockBytes = 64 * kiB

const maxBlockBytes = 4 * MiB

interface Stage {
  /** Offset of its first byte. */
  readonly begin: number
  readonly partBytes: number
  readonly blockBytes: number
  /** Number of its first block, counted from the beginning of the blob. */
  readonly firstBlock: number
}

/**
 * Part of the storage format, so it must never be changed: a thousand parts of 6 MiB in blocks of 64 KiB, a thousand of 12 MiB in blocks of
 * 128 KiB and so on. An upload of unknown length can then become 5.8 TiB long with S3's 10,000 parts, and its checksums take 8 MB at most.
 */
const stages: readonly Stage[] = Array.from({ length: stageCount }).reduce<Stage[]>(made => {
  const last = made.at(-1)
  const stage = last
    ? {
        begin: last.begin + partsPerStage * last.partBytes,
        partBytes: last.partBytes * 2,
        blockBytes: Math.min(last.blockBytes * 2, maxBlockBytes),
        firstBlock: last.firstBlock + (partsPerStage * last.partBytes) / last.blockBytes,
      }
    : { begin: 0, partBytes: firstPartBytes, blockBytes: firstBlockBytes, firstBlock: 0 }
  return made.concat(stage)
}, [])

const stageAt = (offset: number): Stage => stages.findLast(({ begin }) => begin <= offset) as Stage

/** A range that has one checksum. */
export interface Block {
  readonly index: number
  readonly begin: number
  /** End offset (exclusive), if the blob is that long. */
  readonly end: number
}

/** The length of part `number`, counted from 1; undefined beyond the last possible part. */
export const partBytes = (number: number): number | undefined => stages[Math.floor((number - 1) / partsPerStage)]?.partBytes

/** The block that contains the byte at this offset. */
export function blockAt(offset: number): Block {
  const { begin, blockBytes, firstBlock } = stageAt(offset)
  const number = Math.floor((offset - begin) / blockBytes)
  return { index: firstBlock + number, begin: begin + number * blockBytes, end: begin + (number + 1) * blockBytes }
}

/** Maximum size of a single object: the first part of a longer one. */
export const smallBytes = firstPartBytes

/** `o`: one object with its checksums in its metadata. `p`: assembled from parts, with its checksums in an object beside it. */
type Shape = 'o' | 'p'

/** A parsed blob key. */
export interface ParsedKey {
  readonly shape: Shape
  /** What follows the shape, the same for both objects of a blob. */
  readonly rest: string
}

const pattern = /^([op])\/([0-9a-f]{2}\/[0-9a-z]{9}-[0-9a-f]{16})$/

/** A new unique key. The random prefix spreads keys over a bucket's partitions. */
export function newKey(shape: Shape, now: Date): string {
  const random = randomBytes(9).toString('hex')
  return `${shape}/${random.slice(0, 2)}/${now.getTime().toString(36).padStart(9, '0')}-${random.slice(2)}`
}

/** Undefined for what `newKey` never creates. */
export function parseKey(key: string): ParsedKey | undefined {
  const [, shape, rest] = pattern.exec(key) ?? []
  return rest === undefined ? undefined : { shape: shape as Shape, rest }
}

/** The object with the checksums of a blob made from parts. */
export const sumsNameOf = ({ rest }: ParsedKey): string => `sums/${rest}`
