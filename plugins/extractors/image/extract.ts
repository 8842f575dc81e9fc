import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import type { Metadata, Sharp } from 'sharp'
import { readExif } from './exif.ts'
import { loadSharp, type OpenImage, openImage, readable, type SharpModule } from './source.ts'

/** True for one-channel measurements of more than eight bits: few use the whole range, so most would come out black. */
const needsStretching = (metadata: Metadata): boolean => metadata.channels === 1 && metadata.depth !== 'uchar'

/** The resized image, scaled so that its smallest value is black and its largest white. Non-finite values are black. */
async function stretchedGrey(sharp: SharpModule, sized: Sharp, metadata: Metadata): Promise<Sharp> {
  const { data, info } = await sized.toColourspace(metadata.space).raw({ depth: 'float' }).toBuffer({ resolveWithObject: true })
  const values = new Float32Array(data.buffer, data.byteOffset, info.width * info.height)
  let [least, most] = [Infinity, -Infinity]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    if (value < least) least = value
    if (value > most) most = value
  }
  const scale = most > least ? 255 / (most - least) : 0
  const grey = Uint8Array.from(values, value => (Number.isFinite(value) ? (value - least) * scale : 0))
  return sharp(grey, { raw: { width: info.width, height: info.height, channels: 1 } })
}

const previewPixels = 1024

const thumbnailPixels = 225

/** Writes a preview and a thumbnail, upright, in sRGB and without the image's own metadata. Small images are not enlarged. */
async function writeRenditions(sharp: SharpModule, image: OpenImage, folder: string): Promise<ExtractorOutput> {
  const { metadata } = image
  const kind = metadata.hasAlpha
    ? ({ format: 'png', contentType: 'image/png' } as const)
    : ({ format: 'jpeg', contentType: 'image/jpeg' } as const)
  const extension = kind.format === 'png' ? 'png' : 'jpg'
  const upright = image.pipeline().autoOrient().resize(inside(previewPixels))
  const shown = needsStretching(metadata) ? await stretchedGrey(sharp, upright, metadata) : upright
  const preview = await shown.toColourspace('srgb').toFormat(kind.format, { quality: 82 }).toBuffer()
  const thumbnail = await sharp(preview).resize(inside(thumbnailPixels)).toFormat(kind.format, { quality: 80 }).toBuffer()
  await writeFile(join(folder, `preview.${extension}`), preview)
  await writeFile(join(folder, `thumbnail.${extension}`), thumbnail)
  return {
    previews: [{ path: `preview.${extension}`, contentType: kind.contentType }],
    thumbnail: { path: `thumbnail.${extension}`, contentType: kind.contentType },
  }
}

const inside = (pixels: number) => ({ width: pixels, height: pixels, fit: 'inside', withoutEnlargement: true }) as const

const maxChannels = 4

/**
 * Describes an image and draws its preview and thumbnail, upright.
 * Throws when the bytes are damaged or claim too many pixels; an image format that cannot be read here is skipped.
 */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  if (input.sizeBytes === 0) throw new Error('The file is empty.')
  const loaded = await loadSharp()
  if ('missing' in loaded) return { skipped: loaded.missing }
  const image = await openImage(loaded.sharp, input)
  if ('skipped' in image) return image
  const exif = await readExif(image.metadata.exif ?? (image.metadata.format === 'tiff' ? input.path : undefined))
  const metadata = { ...describe(image.metadata), ...exif }
  if (image.metadata.channels > maxChannels) return { metadata }
  input.progress('drawing the preview')
  try {
    return { metadata, ...(await writeRenditions(loaded.sharp, image, input.outputFolder)) }
  } catch (error) {
    throw readable(error, input)
  }
}

const bits: Readonly<Record<string, number>> = { uchar: 8, char: 8, ushort: 16, short: 16, uint: 32, int: 32, float: 32, double: 64 }

function describe(metadata: Metadata): Record<string, unknown> {
  return {
    format: metadata.compression === 'av1' ? 'avif' : metadata.format,
    width: metadata.autoOrient.width,
    height: metadata.autoOrient.height,
    colourSpace: metadata.space,
    channels: metadata.channels,
    bitsPerChannel: bits[metadata.depth] ?? 8,
    hasAlpha: metadata.hasAlpha,
    ...((metadata.orientation ?? 1) > 1 && { orientation: metadata.orientation }),
    ...((metadata.pages ?? 1) > 1 && { pages: metadata.pages }),
    ...(metadata.density !== undefined && { pixelsPerInch: metadata.density }),
  }
}
