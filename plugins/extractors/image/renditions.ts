import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExtractorOutput } from 'pounce/sdk'
import type { OpenImage, SharpModule } from './source.ts'
import { needsStretching, stretchedGrey } from './stretched-grey.ts'

const previewPixels = 1024
const thumbnailPixels = 225

/** Writes a preview and a thumbnail, upright, in sRGB and without the image's own metadata. Small images are not enlarged. */
export async function writeRenditions(sharp: SharpModule, image: OpenImage, folder: string): Promise<ExtractorOutput> {
  const { facts } = image
  const kind = facts.hasAlpha
    ? ({ format: 'png', contentType: 'image/png' } as const)
    : ({ format: 'jpeg', contentType: 'image/jpeg' } as const)
  const extension = kind.format === 'png' ? 'png' : 'jpg'
  const upright = image.pipeline().autoOrient().resize(inside(previewPixels))
  const shown = needsStretching(facts) ? await stretchedGrey(sharp, upright, facts) : upright
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
