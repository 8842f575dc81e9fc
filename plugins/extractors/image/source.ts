import { open, readFile } from 'node:fs/promises'
import type { ExtractorInput } from 'pounce/sdk'
import type { Metadata, Sharp } from 'sharp'

export type SharpModule = typeof import('sharp').default

/** An image whose header has been read. */
export interface OpenImage {
  readonly metadata: Metadata
  /** A new pipeline over the image's first page. */
  pipeline(): Sharp
}

const maxPixels = 100_000_000
const gzipMark = Buffer.from([0x1f, 0x8b])
const maxSvgBytes = 5 << 20
const readableTypes = /^image\/(jpe?g|pjpeg|png|webp|gif|tiff|avif|svg\+xml)\s*(;|$)/i

// The content decides which loader runs, whatever the file is called. SVG is read from memory only: then it has no
// folder, and no reference in it leads to another stored file. All other loaders are disabled.
const loaders = [
  'VipsForeignLoadJpegFile',
  'VipsForeignLoadPngFile',
  'VipsForeignLoadWebpFile',
  'VipsForeignLoadTiffFile',
  'VipsForeignLoadNsgifFile',
  'VipsForeignLoadHeifFile',
  'VipsForeignLoadSvgBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
]

let restricted: SharpModule | undefined

/** The image library, or the reason why it is not available. It is an optional dependency with native code. */
export async function loadSharp(load = () => import('sharp')): Promise<{ readonly sharp: SharpModule } | { readonly missing: string }> {
  try {
    const { default: sharp } = await load()
    // Called once: between the two calls, images that other threads read at the same time would be rejected.
    if (restricted !== sharp) {
      sharp.block({ operation: ['VipsForeignLoad'] })
      sharp.unblock({ operation: loaders })
      sharp.cache(false)
      restricted = sharp
    }
    return { sharp }
  } catch (error) {
    const reason = String(error instanceof Error ? error.message : error).split('\n')[0]
    return { missing: `sharp is not installed, so images are neither read nor drawn. Install it with "npm install sharp". (${reason})` }
  }
}

/** Reads the header. Throws when the bytes are not an image despite their type. */
export async function openImage(sharp: SharpModule, input: ExtractorInput): Promise<OpenImage | { readonly skipped: string }> {
  const isSvg = await looksLikeSvg(input)
  if (isSvg && input.sizeBytes > maxSvgBytes) return { skipped: `SVG drawings above ${maxSvgBytes >> 20} MiB are not drawn.` }
  const source = isSvg ? await readFile(input.path) : input.path
  // The size of the file does not limit its uncompressed content.
  if (Buffer.isBuffer(source) && source.subarray(0, 2).equals(gzipMark)) return { skipped: 'Compressed SVG drawings are not drawn.' }
  const pipeline = () => sharp(source, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true }).timeout({ seconds: 90 })
  try {
    return { metadata: await pipeline().metadata(), pipeline }
  } catch (error) {
    const unknown = error instanceof Error && error.message.includes('unsupported image format')
    if (unknown && !readableTypes.test(input.contentType)) return { skipped: `Images of type ${input.contentType} cannot be read here.` }
    throw readable(error, input)
  }
}

async function looksLikeSvg(input: ExtractorInput): Promise<boolean> {
  if (input.contentType.startsWith('image/svg+xml')) return true
  await using file = await open(input.path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1024), 0, 1024, 0)
  return buffer.toString('latin1', 0, bytesRead).trimStart().startsWith('<')
}

/** The library's error as a sentence for the user, without the path of the stored file. */
export function readable(error: unknown, input: ExtractorInput): Error {
  const errorText = error instanceof Error ? error.message : String(error)
  const reason = errorText.replaceAll(input.path, input.filename).replace(/\s+/g, ' ').trim()
  if (reason.includes('pixel limit')) {
    return new Error(`The image exceeds the maximum of ${maxPixels / 1e6} million pixels.`, { cause: error })
  }
  return new Error(`The image cannot be read; it may be damaged or truncated: ${reason}`, { cause: error })
}
