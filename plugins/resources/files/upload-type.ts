import { type BlobFacts, type BlobStore, mediaTypeOf } from 'pounce/sdk'
import { zipNames } from './upload-zip-names.ts'

/** What an archive is called by the first name in it that says something (Clowder 1.x, fileutils/FilesUtils). */
const zipped: readonly (readonly [sign: RegExp, type: string])[] = [
  [/\.x3d$/i, 'model/x3d-zipped'],
  [/\.obj$/i, 'model/obj-zipped'],
  [/\.lp$/i, 'imageset/ptmimages-zipped'],
  [/\.sfmdataset$/i, 'model/sfm-zipped'],
  [/__slides/i, 'multi/video-presentation-zipped'],
]

const zippedType = (names: readonly string[]): string => {
  for (const name of names) {
    const [, type] = name.endsWith('/') ? [] : (zipped.find(([sign]) => sign.test(name)) ?? [])
    if (type !== undefined) return type
  }
  return 'multi/files-zipped'
}

/**
 * The media type of a file, without parameters. An archive is called after what is in it; only its list of names is read, of which no more
 * than the first megabyte counts. One that cannot be read stays `application/zip`.
 */
export const fileTypeOf = async (
  blobs: BlobStore,
  { name, contentType, bytes }: { readonly name: string; readonly contentType?: string; readonly bytes: BlobFacts },
): Promise<string> => {
  const declared = contentType?.split(';')[0]?.trim().toLowerCase()
  const type = await mediaTypeOf(blobs, { name, bytes, ...(declared === undefined ? {} : { contentType: declared }) })
  if (!/^application\/(?:x-)?zip(?:-compressed)?$/.test(type)) return type
  const names = await zipNames(blobs, bytes)
  return names === undefined ? type : zippedType(names)
}
