import { type Bytes, Installation, Invalid, multipart, NotFound, type Permission, Policy, ref, routesFor, s } from 'pounce/sdk'
import { linkToNext, pageOf } from 'pounce/sdk/kit'
import { DerivedBytes } from './derived-bytes.ts'
import { DerivedStore, listQuery, seenOf } from './derived-store.ts'
import { StoredThumbnails } from './stored-thumbnails.ts'
import { StoredTiles } from './stored-tiles.ts'

const route = routesFor('thumbnails', {
  thumbnails: StoredThumbnails,
  derived: DerivedStore,
  bytes: DerivedBytes,
  installation: Installation,
  policy: Policy,
})

const params = s.Object({ id: s.id() })

export const uploadThumbnail = route({
  method: 'POST',
  path: '/api/fileThumbnail',
  summary: 'Upload a thumbnail',
  permission: { right: 'CreatePreview', unscoped: 'The thumbnail is new, attached to nothing, and accessible to its uploader only.' },
  jobKeys: 'allowed',
  body: multipart('One file part named `File`', 100, { File: 'file' }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller, signal }, { thumbnails, derived }) {
    return { status: 200, body: { id: await thumbnails.upload(await derived.receive(body, signal), caller) } }
  },
})

const attachTo = (kind: 'file' | 'section', permission: Permission, description: string) =>
  route({
    method: 'POST',
    path: `/api/${kind}s/:id/thumbnails/:thumbnail`,
    summary: `Attach a thumbnail to a ${kind}`,
    description,
    permission: { right: permission, on: ref(kind, 'id') },
    jobKeys: 'allowed',
    alsoRequires: [{ right: 'AddFile', on: ref('thumbnail', 'thumbnail') }],
    params: s.Object({ id: s.id(), thumbnail: s.id() }),
    body: s.Optional(s.Unknown()),
    responses: { 200: s.success() },
    throws: [NotFound],
    async handle({ params, caller }, { thumbnails }) {
      await thumbnails.attach(params.thumbnail, { kind, id: params.id }, caller.user?.id)
      return { status: 200, body: { status: 'success' } }
    },
  })

export const attachThumbnail = attachTo(
  'file',
  'AddFile',
  'Also sets it on the datasets of the file, and on their collections, if they have none.',
)

export const attachSectionThumbnail = attachTo('section', 'EditSection', 'A thumbnail that is already attached elsewhere stays there too.')

export const getThumbnail = route({
  method: 'GET',
  path: '/api/thumbnails/:id/blob',
  aliases: [{ path: '/api/thumbnails/:id' }],
  summary: 'Get the image of a thumbnail',
  permission: { right: 'ViewFile', on: ref('thumbnail', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params }, { thumbnails, bytes }) {
    const thumbnail = await thumbnails.thumbnail(params.id)
    if (!thumbnail) throw new NotFound('thumbnail')
    return { status: 200, body: bytes.show(thumbnail) }
  },
})

export const deleteThumbnail = route({
  method: 'DELETE',
  path: '/api/thumbnails/:id',
  summary: 'Delete a thumbnail',
  description: 'Resources that show it show another thumbnail of their contents, or none. In Clowder 1.x any signed-in user could do this.',
  permission: { right: 'EditFile', on: ref('thumbnail', 'id') },
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { thumbnails }) {
    const thumbnail = await thumbnails.thumbnail(params.id)
    if (thumbnail) await thumbnails.remove(thumbnail, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const Listed = s.model(
  'Thumbnail',
  s.Object({
    id: s.String(),
    filename: s.String(),
    'content-type': s.String(),
    'date-created': s.v1Date(),
    size: s.String(),
  }),
)

export const listThumbnails = route({
  method: 'GET',
  path: '/api/thumbnails',
  summary: 'List all thumbnails, newest first',
  description:
    'Thumbnails that the caller may view; with `superAdmin=true` all of them. Paginated by the `Link` header; a page can be shorter than `limit`. In Clowder 1.x for everyone.',
  permission: 'serverAdmin',
  query: listQuery,
  responses: { 200: s.Array(Listed) },
  throws: [Invalid],
  async handle({ query, caller, url }, { thumbnails, installation, policy }) {
    const page = await thumbnails.page(pageOf(query))
    const seen = await seenOf(policy, caller, 'thumbnail', page.items)
    const body = seen.map(({ id, filename, contentType, created, sizeBytes }) => ({
      id,
      filename,
      'content-type': contentType,
      'date-created': s.toV1Date(created),
      size: String(sizeBytes),
    }))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

const previewsRoute = routesFor('previews', { tiles: StoredTiles, derived: DerivedStore, bytes: DerivedBytes })

/** A pyramid of an image with 2^64 pixels to a side has no more levels. */
const level = () => s.Integer({ minimum: 0, maximum: 64 })

export const uploadTile = previewsRoute({
  method: 'POST',
  path: '/api/tiles',
  summary: 'Upload a tile of a large image',
  description: 'The file name is `column_row_anything.jpg`; it is stored as `column_row.jpg`. Attach the tile afterwards.',
  permission: { right: 'CreatePreview', unscoped: 'The tile is new, in no preview, and accessible to its uploader only.' },
  jobKeys: 'allowed',
  body: multipart('One file part named `File`', 100, { File: 'file' }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller, signal }, { tiles, derived }) {
    return { status: 200, body: { id: await tiles.upload(await derived.receive(body, signal), caller) } }
  },
})

export const attachTile = previewsRoute({
  method: 'POST',
  path: '/api/previews/:id/tiles/:tile/:level',
  summary: 'Attach a tile to a preview',
  description:
    'Replaces a tile at the same position. Unattached tiles belong to their uploader; moving one from another preview requires AddFile on that as well.',
  permission: { right: 'AddFile', on: ref('preview', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id(), tile: s.id(), level: level() }),
  body: s.Record(s.String(), s.Unknown()),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { tiles }) {
    await tiles.attach(await tiles.attachable(params.tile, caller), params.id, params.level, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const previewOf = (folder: string): string => folder.slice(0, 24)

export const getTile = previewsRoute({
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
