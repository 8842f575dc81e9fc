import { type Bytes, Invalid, multipart, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { DerivedBytes } from './bytes-of.ts'
import { DerivedStore } from './derived-store.ts'
import { StoredTiles } from './stored-tiles.ts'

const route = routesFor('previews', { tiles: StoredTiles, derived: DerivedStore, bytes: DerivedBytes })

/** A pyramid of a picture with 2^64 pixels to a side has no more levels. */
const level = () => s.Integer({ minimum: 0, maximum: 64 })

export const uploadTile = route({
  method: 'POST',
  path: '/api/tiles',
  summary: 'Upload a tile of a large image',
  description: 'The file name is `column_row_anything.jpg`; it is stored as `column_row.jpg`. Attach the tile afterwards.',
  permission: { right: 'CreatePreview', unscoped: "The tile is new, in no preview, and its uploader's alone." },
  jobKeys: 'allowed',
  body: multipart('One file part named `File`', 100),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller, signal }, { tiles, derived }) {
    return { status: 200, body: { id: await tiles.upload(await derived.receive(body, signal), caller) } }
  },
})

export const attachTile = route({
  method: 'POST',
  path: '/api/previews/:id/tiles/:tile/:level',
  summary: 'Attach a tile to a preview',
  description: 'Replaces a tile at the same position. Unattached tiles belong to their uploader.',
  permission: { right: 'AddFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id(), tile: s.id(), level: level() }),
  body: s.Record(s.String(), s.Unknown()),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { tiles }) {
    await tiles.attach(await tiles.uploaded(params.tile, caller), params.id, params.level, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const previewOf = (folder: string): string => folder.slice(0, 24)

export const getTile = route({
  method: 'GET',
  path: '/api/previews/:folder/:level/:filename',
  summary: 'Get the image of a tile',
  description: 'The URL that Deep Zoom viewers derive from the preview: its id with the suffix `_files`, the level, and `column_row.jpg`.',
  permission: { right: 'ViewFile', on: ({ folder }) => ({ kind: 'preview', id: previewOf(folder) }) },
  jobKeys: 'allowed',
  params: s.Object({ folder: s.String({ pattern: '^[0-9a-f]{24}_files$' }), level: level(), filename: s.filename() }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }, { tiles, bytes }) {
    const tile = await tiles.find(previewOf(params.folder), params.level, params.filename)
    if (!tile) throw new NotFound('tile')
    return { status: 200, body: bytes.show(tile) }
  },
})
