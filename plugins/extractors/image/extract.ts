import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import type { Metadata } from 'sharp'
import { readExif } from './exif.ts'
import { writeRenditions } from './renditions.ts'
import { loadSharp, openImage, readable } from './source.ts'

const mostChannels = 4

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
  const exif = await readExif(image.facts.exif ?? (image.facts.format === 'tiff' ? input.path : undefined))
  const metadata = { ...describe(image.facts), ...exif }
  if (image.facts.channels > mostChannels) return { metadata }
  input.progress('drawing the preview')
  try {
    return { metadata, ...(await writeRenditions(loaded.sharp, image, input.outputFolder)) }
  } catch (error) {
    throw readable(error, input)
  }
}

const bits: Readonly<Record<string, number>> = { uchar: 8, char: 8, ushort: 16, short: 16, uint: 32, int: 32, float: 32, double: 64 }

function describe(facts: Metadata): Record<string, unknown> {
  return {
    format: facts.compression === 'av1' ? 'avif' : facts.format,
    width: facts.autoOrient.width,
    height: facts.autoOrient.height,
    colourSpace: facts.space,
    channels: facts.channels,
    bitsPerChannel: bits[facts.depth] ?? 8,
    hasAlpha: facts.hasAlpha,
    ...((facts.orientation ?? 1) > 1 && { orientation: facts.orientation }),
    ...((facts.pages ?? 1) > 1 && { pages: facts.pages }),
    ...(facts.density !== undefined && { pixelsPerInch: facts.density }),
  }
}
