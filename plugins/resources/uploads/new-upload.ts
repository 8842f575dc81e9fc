import { type FileIngest, Invalid, type Json, s } from 'pounce/sdk'
import { checkJsonLdContext, defaultJsonLimits, type IngestTarget, OtherName, parseJson } from 'pounce/sdk/kit'
import type { UploadRecord } from './collections.ts'

/** The client's description of a file before its bytes. */
export type NewUpload = Pick<
  UploadRecord,
  'name' | 'contentType' | 'dataset' | 'folder' | 'path' | 'batch' | 'extract' | 'showPreviews' | 'metadata' | 'sha256'
>

const shows = ['DatasetLevel', 'FileLevel', 'None'] as const

const documentIn = (text: string): { readonly context?: Json; readonly content: Json } => {
  const value = parseJson(text, defaultJsonLimits, 'Upload-Metadata: metadata')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Invalid('Upload-Metadata: metadata must be a JSON object')
  const { '@context': context, ...content } = value as Readonly<Record<string, Json>>
  if (context === undefined) return { content }
  checkJsonLdContext(context, 'Upload-Metadata')
  return { context, content }
}

const idIn = (given: ReadonlyMap<string, string>, key: 'dataset' | 'folder'): string | null => {
  const id = given.get(key) ?? ''
  if (id !== '' && !s.isId(id)) throw new Invalid(`Upload-Metadata: ${key} must be an id: 24 lower-case hex digits`)
  return id === '' ? null : id
}

/** The name of the file, and of the folders in its path. */
const placeIn = (given: ReadonlyMap<string, string>, ingest: FileIngest): { readonly name: string; readonly path?: readonly string[] } => {
  const sent = given.get('filename') ?? given.get('name')
  const path = given.get('path')
  if (path === undefined) {
    if (sent === undefined) throw new Invalid('Upload-Metadata: filename is missing')
    return { name: ingest.nameOf(sent) }
  }
  const { folders, name } = ingest.pathOf(path)
  if (sent !== undefined && ingest.nameOf(sent) !== name) throw new OtherName(sent)
  if (folders.length > 0 && !given.get('dataset')) throw new Invalid('Upload-Metadata: path requires dataset, the dataset of its folders')
  return folders.length === 0 ? { name } : { name, path: folders }
}

/** Parses `Upload-Metadata`; throws `Invalid` naming the key. Unknown keys are ignored. */
export const newUpload = (given: ReadonlyMap<string, string>, ingest: FileIngest): NewUpload => {
  const place = placeIn(given, ingest)
  const extract = given.get('extract') ?? 'true'
  if (!/^(?:true|false)$/i.test(extract)) throw new Invalid('Upload-Metadata: extract must be true or false')
  const showPreviews = shows.find(each => each === (given.get('showPreviews') ?? 'DatasetLevel'))
  if (!showPreviews) throw new Invalid(`Upload-Metadata: showPreviews must be one of ${shows.join(', ')}`)
  const sha256 = given.get('sha256')?.toLowerCase() ?? null
  if (sha256 !== null && !/^[0-9a-f]{64}$/.test(sha256)) throw new Invalid('Upload-Metadata: sha256 must be 64 hex digits')
  const metadata = given.get('metadata')
  const dataset = idIn(given, 'dataset')
  const batch = given.get('batch') ?? ''
  return {
    ...place,
    contentType: (given.get('filetype') ?? given.get('type') ?? '').slice(0, 200),
    dataset,
    ...(batch === '' ? {} : { batch: ingest.batchOf(batch) }),
    folder: idIn(given, 'folder'),
    extract: dataset !== null && extract.toLowerCase() === 'true',
    showPreviews,
    metadata: metadata === undefined || metadata === '' ? [] : [documentIn(metadata)],
    sha256,
  }
}

/** The target of an upload. */
export const targetOf = ({ dataset, folder, path }: Pick<UploadRecord, 'dataset' | 'folder' | 'path'>): IngestTarget => ({
  dataset: dataset ?? undefined,
  folder: folder ?? undefined,
  path,
})
