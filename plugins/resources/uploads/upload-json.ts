import { type Stored, s } from 'pounce/sdk'
import type { UploadRecord } from './collections.ts'

/** How far an upload has come. Numbers are bytes, times ISO 8601. */
export const Upload = s.model(
  'Upload',
  s.Object({
    id: s.String(),
    filename: s.String(),
    dataset: s.Union([s.String(), s.Null()]),
    folder: s.Union([s.String(), s.Null()]),
    length: s.Integer(),
    received: s.Integer({ description: 'Durable bytes: an interrupted client continues from here' }),
    started: s.String(),
    expires: s.String(),
    state: s.Union([s.Literal('open'), s.Literal('finished')]),
    file: s.Union([s.String(), s.Null()], { description: 'Id of the file, once it is created' }),
  }),
)

export const toUpload = (upload: UploadRecord & Stored): s.Static<typeof Upload> => ({
  id: upload.id,
  filename: upload.name,
  dataset: upload.dataset,
  folder: upload.folder,
  length: upload.lengthBytes,
  received: upload.receivedBytes,
  started: upload.started,
  expires: upload.expires,
  state: upload.state,
  file: upload.state === 'finished' ? upload.id : null,
})
