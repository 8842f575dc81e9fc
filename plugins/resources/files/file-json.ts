import { type Caller, type FileRecord, isServerAdmin, type Stored, s } from 'pounce/sdk'

type File = FileRecord & Stored

/** The response of `GET /api/files/:id/metadata` (reference, api-data §1a): all values are strings. */
export const FileInfo = s.model(
  'File',
  s.Object({
    id: s.String(),
    filename: s.String(),
    filedescription: s.String(),
    'content-type': s.String(),
    'date-created': s.v1Date(),
    size: s.String(),
    thumbnail: s.Union([s.String(), s.Null()]),
    authorId: s.String(),
    status: s.String(),
    views: s.String(),
    downloads: s.String(),
    path: s.String(),
    sha256: s.String(),
    damaged: s.Optional(
      s.String({ description: 'Time when the stored bytes were found to be damaged, ISO 8601; absent if they are not known to be' }),
    ),
    scan: s.Optional(
      s.String({
        description:
          'Result of the malware scan: `pending` (not scanned yet, no download), `clean`, `skipped`, `infected` (in quarantine) or `released`; absent if no scanner was loaded at upload',
      }),
    ),
    signature: s.Optional(s.String({ description: 'Malware signature of an `infected` or `released` file' })),
    filepath: s.Optional(s.String({ description: 'For server admins: path of a file registered in place' })),
    'service-endpoint': s.Optional(s.String({ description: 'For server admins, if bytes are on an S3 server; the next two as well' })),
    'bucket-name': s.Optional(s.String()),
    'object-key': s.Optional(s.String()),
  }),
)

/** Additional members for server admins. */
export interface BytesPlace {
  readonly filepath?: string
  readonly 'service-endpoint'?: string
  readonly 'bucket-name'?: string
  readonly 'object-key'?: string
}

export const toFileInfo = (
  file: File,
  path: string,
  { place, damaged }: { readonly place: BytesPlace; readonly damaged: string | undefined },
): s.Static<typeof FileInfo> => ({
  id: file.id,
  filename: file.name,
  filedescription: file.description,
  'content-type': file.contentType,
  'date-created': s.toV1Date(file.created),
  size: String(file.sizeBytes),
  thumbnail: file.thumbnail,
  authorId: file.author,
  status: file.status,
  views: String(file.statistics.views),
  downloads: String(file.statistics.downloads),
  path,
  sha256: file.sha256,
  ...(damaged === undefined ? {} : { damaged }),
  ...(file.scan === undefined ? {} : { scan: file.scan.state }),
  ...(file.scan?.signature === undefined ? {} : { signature: file.scan.signature }),
  ...place,
})

/** A file in a dataset's listing (reference, api-data §1b). `folders` is one object despite its name. */
export const ListedFile = s.model(
  'ListedFile',
  s.Object({
    id: s.String(),
    filename: s.String(),
    contentType: s.String(),
    'date-created': s.v1Date(),
    size: s.String(),
    folders: s.Optional(s.Object({ id: s.String(), name: s.String() })),
    filepath: s.Optional(s.String()),
  }),
)

export const toListedFile = (file: File, folder?: { id: string; name: string }, filepath?: string): s.Static<typeof ListedFile> => ({
  id: file.id,
  filename: file.name,
  contentType: file.contentType,
  'date-created': s.toV1Date(file.created),
  size: String(file.sizeBytes),
  ...(folder ? { folders: folder } : {}),
  ...(filepath === undefined ? {} : { filepath }),
})

/** A file in the response for several uploaded ones, and as a search hit (reference, api-data §1b, api-platform §8). */
export const FileItem = s.model(
  'FileSummary',
  s.Object({
    id: s.String(),
    name: s.String(),
    status: s.String(),
    thumbnail: s.Union([s.String(), s.Null()]),
    created: s.v1Date(),
    resource_type: s.Literal('file'),
  }),
)

export const toFileItem = (file: File): s.Static<typeof FileItem> => ({
  id: file.id,
  name: file.name,
  status: file.status,
  thumbnail: file.thumbnail,
  created: s.toV1Date(file.created),
  resource_type: 'file',
})

/** Paths on disk are visible only to server admins and the service key: extractors with mounted storage read the bytes in place. */
export const maySeePaths = (caller: Caller): boolean => isServerAdmin(caller) || caller.via === 'service'
