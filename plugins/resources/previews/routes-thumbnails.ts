import {
  type Bytes,
  Installation,
  Invalid,
  linkToNext,
  multipart,
  NotFound,
  one,
  type Permission,
  Policy,
  pageOf,
  routesFor,
  s,
} from 'pounce/sdk'
import { BytesOf } from './bytes-of.ts'
import { listQuery, seenOf } from './derived-list.ts'
import { Derived } from './derived-store.ts'
import { ThumbnailDesk } from './stored-thumbnails.ts'

const route = routesFor('thumbnails', {
  thumbnails: ThumbnailDesk,
  derived: Derived,
  bytes: BytesOf,
  installation: Installation,
  policy: Policy,
})

const params = s.Object({ id: s.id() })

export const uploadThumbnail = route({
  method: 'POST',
  path: '/api/fileThumbnail',
  summary: 'Upload a thumbnail, to be attached next',
  permission: 'CreatePreview',
  body: multipart('One file part named `File`', 100),
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
    permission,
    of: one(kind),
    also: [{ permission: 'AddFile', of: one('thumbnail', 'thumbnail') }],
    params: s.Object({ id: s.id(), thumbnail: s.id() }),
    body: s.Optional(s.Unknown()),
    responses: { 200: s.success() },
    throws: [NotFound],
    async handle({ params, caller }, { thumbnails }) {
      await thumbnails.attach(params.thumbnail, { kind, id: params.id }, caller.user?.id)
      return { status: 200, body: { status: 'success' } }
    },
  })

export const attachThumbnail = attachTo('file', 'AddFile', 'Its datasets, and their collections, get it too where they have none.')
export const attachSectionThumbnail = attachTo('section', 'EditSection', 'One that is attached elsewhere already stays there too.')

export const getThumbnail = route({
  method: 'GET',
  path: '/api/thumbnails/:id/blob',
  aliases: [{ path: '/api/thumbnails/:id' }],
  summary: "A thumbnail's picture",
  permission: 'ViewFile',
  of: one('thumbnail'),
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
  description: 'What showed it shows another one of what is in it, or none. Clowder 1.x let everybody do this who was signed in.',
  permission: 'EditFile',
  of: one('thumbnail'),
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { thumbnails }) {
    const thumbnail = await thumbnails.thumbnail(params.id)
    if (thumbnail) await thumbnails.remove(thumbnail, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const Listed = s.Object({
  id: s.String(),
  filename: s.String(),
  'content-type': s.String(),
  'date-created': s.v1Date(),
  size: s.String(),
})

export const listThumbnails = route({
  method: 'GET',
  path: '/api/thumbnails',
  summary: 'All thumbnails of the server, newest first',
  description:
    'Those that the caller may see: with `superAdmin=true` all of them. Pages, which can be short, through the `Link` header. Clowder 1.x showed them to everybody.',
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
