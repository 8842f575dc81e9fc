import { fromUrl, type GeoTIFF, type GeoTIFFImage } from 'geotiff'
import { callsThrough } from './worker-calls.ts'

/** An image in a TIFF, with its overviews in the file. */
export interface TiffPage {
  readonly width: number
  readonly height: number
  readonly bands: number
  readonly type: string
  /** Whether there are overviews of any size; without one, the whole image must be decoded. */
  readonly hasOverviews: boolean
  readonly place?: { readonly box: readonly number[]; readonly epsg: number; readonly isGeographic: boolean }
}

export interface TiffPages {
  readonly pages: readonly TiffPage[]
  readonly total: number
}

export interface TiffPart {
  readonly window: readonly [left: number, top: number, right: number, bottom: number]
  readonly width: number
  readonly height: number
}

/** Maximum number of pixels decoded for one response. */
const maxDecodedPixels = 64_000_000
const maxPages = 16
const maxImages = 2000

let file: GeoTIFF | undefined
let groups: { readonly images: readonly GeoTIFFImage[]; range?: readonly [number, number] }[] = []

const place = (image: GeoTIFFImage): TiffPage['place'] => {
  const keys = image.getGeoKeys() as Readonly<Record<string, number>> | null
  if (!keys) return undefined
  try {
    const epsg = keys['ProjectedCSTypeGeoKey'] ?? keys['GeographicTypeGeoKey'] ?? 0
    return { box: image.getBoundingBox(), epsg, isGeographic: keys['ProjectedCSTypeGeoKey'] === undefined }
  } catch {
    return undefined
  }
}

const typeOf = (image: GeoTIFFImage): string => {
  const format = { 1: 'uint', 2: 'int', 3: 'float' }[image.getSampleFormat() as 1 | 2 | 3] ?? ''
  return `${format}${image.getBitsPerSample()}`
}

/** Reports progress to the page while the work is running. */
const sayingSo = async <T>(work: Promise<T>): Promise<T> => {
  const beat = setInterval(() => void callMain('reading'), 2000)
  try {
    return await work
  } finally {
    clearInterval(beat)
  }
}

const open = async (url: string): Promise<TiffPages> => {
  file = await fromUrl(url, { allowFullFile: false } as never)
  const count = Math.min(maxImages, await file.getImageCount())
  const made: { images: GeoTIFFImage[] }[] = []
  for (let at = 0; at < count; at++) {
    const image = await file.getImage(at)
    // Overviews follow their image; masks are skipped.
    const kind = Number(image.fileDirectory.getValue?.('NewSubfileType') ?? 0)
    if (kind & 4) continue
    if (kind & 1 && made.length > 0) made.at(-1)?.images.push(image)
    else made.push({ images: [image] })
  }
  groups = made.slice(0, maxPages)
  const pages = groups.map(({ images }) => {
    const [first] = images as [GeoTIFFImage]
    const where = place(first)
    return {
      width: first.getWidth(),
      height: first.getHeight(),
      bands: first.getSamplesPerPixel(),
      type: typeOf(first),
      hasOverviews: images.length > 1,
      ...(where ? { place: where } : {}),
    }
  })
  return { pages, total: made.length }
}

/** The smallest copy with at least the requested resolution. */
const imageFor = (images: readonly GeoTIFFImage[], share: number): GeoTIFFImage => {
  const [first] = images as [GeoTIFFImage]
  return (
    [...images].sort((one, other) => one.getWidth() - other.getWidth()).find(image => image.getWidth() / first.getWidth() >= share) ?? first
  )
}

/** The window in pixels of an overview. */
const scaled = (images: readonly GeoTIFFImage[], image: GeoTIFFImage, { window }: TiffPart): [number, number, number, number] => {
  const [first] = images as [GeoTIFFImage]
  const across = image.getWidth() / first.getWidth()
  const down = image.getHeight() / first.getHeight()
  const [left, top, right, bottom] = window
  return [
    Math.floor(left * across),
    Math.floor(top * down),
    Math.min(image.getWidth(), Math.max(Math.floor(left * across) + 1, Math.ceil(right * across))),
    Math.min(image.getHeight(), Math.max(Math.floor(top * down) + 1, Math.ceil(bottom * down))),
  ]
}

type Samples = ArrayLike<number>

/** The 2nd and 98th percentiles of the values, from a coarse copy of the whole image. */
const rangeOf = async (group: (typeof groups)[number]): Promise<readonly [number, number]> => {
  if (group.range) return group.range
  const [first] = group.images as [GeoTIFFImage]
  const bits = first.getBitsPerSample()
  if (bits === 8 && first.getSampleFormat() === 1 && first.getSamplesPerPixel() >= 3) {
    group.range = [0, 255]
    return group.range
  }
  const image = imageFor(group.images, 0)
  const side = Math.min(1, 512 / Math.max(image.getWidth(), image.getHeight()))
  const [raster] = (await image.readRasters({
    samples: [0],
    width: Math.max(1, Math.round(image.getWidth() * side)),
    height: Math.max(1, Math.round(image.getHeight() * side)),
  })) as unknown as [Samples]
  const missing = first.getGDALNoData()
  const values = Array.from(raster).filter(value => Number.isFinite(value) && value !== missing)
  values.sort((one, other) => one - other)
  const at = (share: number): number => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0
  group.range = values.length === 0 ? [0, 1] : [at(0.02), at(0.98)]
  return group.range
}

/** A part of a page as RGBA; numbers are scaled to grey levels. */
const read = async (page: number, part: TiffPart): Promise<Uint8Array> => {
  const group = groups[page]
  if (!group) throw new Error('No such page')
  const [first] = group.images as [GeoTIFFImage]
  const image = imageFor(group.images, part.width / Math.max(1, part.window[2] - part.window[0]))
  const window = scaled(group.images, image, part)
  if ((window[2] - window[0]) * (window[3] - window[1]) > maxDecodedPixels) throw new RangeError('Too many pixels')
  const { width, height } = part
  const pixels = new Uint8Array(4 * width * height)
  const photometric = Number(first.fileDirectory.getValue?.('PhotometricInterpretation') ?? 1)
  const options = { window, width, height }
  // Palette, CMYK, YCbCr and CIELab.
  if ([3, 5, 6, 8].includes(photometric)) {
    const rgb = (await image.readRGB({ ...options, interleave: true })) as unknown as Samples
    for (let at = 0; at < width * height; at++) {
      for (let band = 0; band < 3; band++) pixels[4 * at + band] = rgb[3 * at + band] as number
      pixels[4 * at + 3] = 255
    }
    return pixels
  }
  const bands = first.getSamplesPerPixel() >= 3 ? [0, 1, 2] : [0]
  const rasters = (await image.readRasters({ ...options, samples: bands })) as unknown as readonly Samples[]
  const [low, high] = await rangeOf(group)
  const missing = first.getGDALNoData()
  const factor = high > low ? 255 / (high - low) : 0
  for (let at = 0; at < width * height; at++) {
    const value = rasters[0]?.[at] as number
    if (!Number.isFinite(value) || (missing !== null && value === missing)) continue
    for (let band = 0; band < 3; band++) {
      const shade = Math.round(((rasters[bands.length === 1 ? 0 : band]?.[at] as number) - low) * factor)
      const bounded = Math.min(255, Math.max(0, factor === 0 ? 128 : shade))
      pixels[4 * at + band] = photometric === 0 && bands.length === 1 ? 255 - bounded : bounded
    }
    pixels[4 * at + 3] = 255
  }
  return pixels
}

const callMain = callsThrough(self as unknown as Parameters<typeof callsThrough>[0], {
  open: (url: string) => sayingSo(open(url)),
  read: (page: number, part: TiffPart) => sayingSo(read(page, part)),
})
