import { type Bytes, type Caller, NotFound, routesFor, s, streamed } from 'pounce/sdk'
import { type Named, type Resolved, seen } from './found-logo.ts'
import { LogoRights } from './logo-rights.ts'
import { standIn } from './pictures.ts'
import { StoredLogos } from './stored-logos.ts'

const route = routesFor('logos', { logos: StoredLogos, access: LogoRights })
const wanted = s.Object({
  default: s.Optional(
    s.String({
      pattern: '^[A-Za-z0-9_./-]{1,200}$',
      description: 'Any file name: if there is no logo, the default image of this server is sent, never another file',
    }),
  ),
})

const picture = async (resolved: Resolved, caller: Caller, named: Named, isDefaultWanted: boolean) => {
  const found = await seen(resolved, caller, named)
  if (found) return { status: 200 as const, body: resolved.logos.show(found) }
  if (!isDefaultWanted) throw new NotFound('logo')
  const open: Bytes['open'] = range => streamed([range ? standIn.subarray(range.start, range.end + 1) : standIn])
  return {
    status: 200 as const,
    body: { open, sizeBytes: standIn.length, contentType: 'image/svg+xml', inline: true, isTrusted: true } satisfies Bytes,
  }
}

export const getLogoPicture = route({
  method: 'GET',
  path: '/api/logos/:id/blob',
  summary: 'Get the image of a logo',
  permission: 'anyone',
  params: s.Object({ id: s.id() }),
  query: wanted,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params, query, caller }, resolved) {
    return picture(resolved, caller, params, query.default !== undefined)
  },
})

export const getLogoPictureAt = route({
  method: 'GET',
  path: '/api/logos/:path/:name/blob',
  summary: 'Get the image of a logo by path and name',
  permission: 'anyone',
  params: s.Object({ path: s.String({ maxLength: 100 }), name: s.String({ maxLength: 100 }) }),
  query: wanted,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params, query, caller }, resolved) {
    return picture(resolved, caller, params, query.default !== undefined)
  },
})
