import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Bytes, NotFound, routesFor, s } from 'pounce/sdk'
import { drawAvatar } from './avatars.ts'

const route = routesFor('users', {})

export const getAvatar = route({
  method: 'GET',
  path: '/api/avatars/:picture',
  summary: 'Get an avatar with initials',
  description:
    'An addition to Clowder 1.x that replaces Gravatar: `avatar` of users without an image links here. It is drawn from the URL, without looking up a user.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({
    picture: s.String({ maxLength: 20, description: 'Up to two letters or digits, a dash, and the number of a colour' }),
  }),
  responses: { 200: s.bytes<Bytes>({ 'image/svg+xml': s.bytes() }) },
  throws: [NotFound],
  async handle({ params }) {
    const svg = drawAvatar(params.picture)
    if (svg === undefined) throw new NotFound('picture')
    const bytes = Buffer.from(svg)
    const body: Bytes = {
      contentType: 'image/svg+xml',
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      isTrusted: true,
      open: range => Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]),
    }
    const headers = { 'cache-control': 'public, max-age=86400', 'content-security-policy': "sandbox; default-src 'none'" }
    return { status: 200, body, headers }
  },
})
