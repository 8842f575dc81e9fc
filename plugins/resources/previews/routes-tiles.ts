import { type Bytes, Invalid, multipart, NotFound, one, routesFor, s } from 'pounce/sdk'
import { BytesOf } from './bytes-of.ts'
import { Derived } from './derived-store.ts'
import { TileDesk } from './stored-tiles.ts'

const route = routesFor('previews', { tiles: TileDesk, derived: Derived, bytes: BytesOf })

/** A pyramid of a picture with 2^64 pixels to a side has no more levels. */
const level = () => s.Integer({ minimum: 0, maximum: 64 })

export const uploadTile = route({
  method: 'POST',
  path: '/api/tiles',
  summary: 'Upload a tile of a large picture, to be attached next',
  description: 'The file is named `column_row_anything.jpg`, and kept as `column_row.jpg`.',
  permission: 'CreatePreview',
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
  summary: 'Put a tile at its place in a preview',
  description: 'A tile that was at the same place before goes. Tiles that are nowhere yet belong to who sent them.',
  permission: 'AddFile',
  of: one('preview'),
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
  summary: "A tile's picture",
  description: "The address that Deep Zoom viewers make of a preview's: its id with `_files` behind it, the level, and `column_row.jpg`.",
  permission: 'ViewFile',
  of: ({ folder }) => ({ kind: 'preview', id: previewOf(folder) }),
  params: s.Object({ folder: s.String({ pattern: '^[0-9a-f]{24}_files$' }), level: level(), filename: s.filename() }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }, { tiles, bytes }) {
    const tile = await tiles.find(previewOf(params.folder), params.level, params.filename)
    if (!tile) throw new NotFound('tile')
    return { status: 200, body: bytes.show(tile) }
  },
})
