const maxExifBytes = 1 << 20
const maxTextLength = 1000

const cameraTags = [
  'Make',
  'Model',
  'LensMake',
  'LensModel',
  'Software',
  'ImageDescription',
  'Artist',
  'Copyright',
  'UserComment',
  'DateTimeOriginal',
  'CreateDate',
  'ModifyDate',
  'ExposureTime',
  'FNumber',
  'ISO',
  'ExposureCompensation',
  'ExposureProgram',
  'MeteringMode',
  'Flash',
  'WhiteBalance',
  'FocalLength',
  'FocalLengthIn35mmFormat',
  'DigitalZoomRatio',
  'SubjectDistance',
  'GPSImgDirection',
  'GPSSpeed',
  'GPSDateStamp',
]
/** Each date's tag with the tag of its time zone. */
const offsetTags: Readonly<Record<string, string>> = {
  DateTimeOriginal: 'OffsetTimeOriginal',
  CreateDate: 'OffsetTimeDigitized',
  ModifyDate: 'OffsetTime',
}
const placeTags = ['GPSLatitudeRef', 'GPSLatitude', 'GPSLongitudeRef', 'GPSLongitude', 'GPSAltitudeRef', 'GPSAltitude']

/** EXIF data of an image, under searchable names. */
export interface ExifData {
  /** ISO 8601; without a zone where the camera recorded none. */
  readonly takenAt?: string
  /** Degrees, south and west negative; metres, below the sea negative. */
  readonly location?: Place
  readonly exif?: Readonly<Record<string, unknown>>
  /** Why EXIF could not be read, when it is present but damaged. */
  readonly exifProblem?: string
}

interface Place {
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
}

type Tags = Readonly<Record<string, unknown>>

/** Reads EXIF from an EXIF block or a TIFF file. Damaged EXIF is not an error: the image can be described without it. */
export async function readExif(source: Buffer | string | undefined): Promise<ExifData> {
  if (source === undefined || source.length > maxExifBytes) return {}
  let tags: Tags
  try {
    tags = await parse(source)
  } catch (error) {
    return { exifProblem: error instanceof Error ? error.message : String(error) }
  }
  const exif: Record<string, unknown> = {}
  for (const name of cameraTags) {
    const value = name in offsetTags ? when(tags, name) : plain(tags[name])
    if (value !== undefined) exif[name] = value
  }
  const takenAt = exif.DateTimeOriginal ?? exif.CreateDate
  const location = place(tags)
  return {
    ...(typeof takenAt === 'string' && { takenAt }),
    ...(location && { location }),
    ...(Object.keys(exif).length > 0 && { exif }),
  }
}

async function parse(source: Buffer | string): Promise<Tags> {
  const { default: exifr } = await import('exifr')
  const block = typeof source === 'string' ? source : source.subarray(source.toString('latin1', 0, 4) === 'Exif' ? 6 : 0)
  // Only known tags are read: their number, not the file, then decides how much is kept.
  const pick = [...cameraTags, ...Object.values(offsetTags), ...placeTags]
  return (await exifr.parse(block, { pick, reviveValues: false })) ?? {}
}

/** A tag's value as JSON: clean text, finite numbers, short lists of these. Anything else is omitted. */
function plain(value: unknown): string | number | number[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string') {
    return (
      value
        .replace(/[\u0000-\u001f\u007f]+/g, ' ')
        .trim()
        .slice(0, maxTextLength) || undefined
    )
  }
  if (Array.isArray(value) && value.length <= 8 && value.every(Number.isFinite)) return value
  return undefined
}

/** EXIF dates are local times; the zone is a tag of its own, which older cameras lack. */
function when(tags: Tags, name: string): string | undefined {
  const text = plain(tags[name])
  const [, date, time] = (typeof text === 'string' && /^(\d{4}[:-]\d\d[:-]\d\d)[ T](\d\d:\d\d:\d\d)/.exec(text)) || []
  if (!date || !time || Number.isNaN(Date.parse(`${date.replaceAll(':', '-')}T${time}Z`))) return undefined
  const zone = plain(tags[offsetTags[name] ?? ''])
  return `${date.replaceAll(':', '-')}T${time}${typeof zone === 'string' && /^[+-]\d\d:\d\d$/.test(zone) ? zone : ''}`
}

function place(tags: Tags): Place | undefined {
  const { latitude, longitude, GPSAltitude: height } = tags
  if (!isWithin(latitude, 90) || !isWithin(longitude, 180)) return undefined
  const below = Number(tags.GPSAltitudeRef instanceof Uint8Array ? tags.GPSAltitudeRef[0] : tags.GPSAltitudeRef) === 1
  const altitude = isWithin(height, 100_000) ? { altitude: below ? -height : height } : {}
  return { latitude: rounded(latitude), longitude: rounded(longitude), ...altitude }
}

const isWithin = (value: unknown, limit: number): value is number => typeof value === 'number' && Math.abs(value) <= limit

/** Seven decimals are a centimetre on the ground. */
const rounded = (degrees: number): number => Math.round(degrees * 1e7) / 1e7
