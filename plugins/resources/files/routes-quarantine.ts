import { NotFound, routesFor, s, Users } from 'pounce/sdk'
import { FileQuarantine } from './file-quarantine.ts'

const route = routesFor('admin', { quarantine: FileQuarantine, users: Users })
const params = s.Object({ id: s.id('quarantined file') })

const QuarantinedFile = s.model(
  'QuarantinedFile',
  s.Object({
    id: s.String(),
    filename: s.String(),
    size: s.Integer(),
    sha256: s.String(),
    signature: s.String({ description: 'Signature reported by the scanner' }),
    date: s.String({ description: 'Time of detection, ISO 8601' }),
    authorId: s.String(),
    author: s.String({ description: 'Email address; empty if the account was deleted' }),
    datasets: s.Array(s.String()),
  }),
)

export const listQuarantine = route({
  method: 'GET',
  path: '/api/admin/quarantine',
  summary: 'List quarantined files, newest first',
  description: 'An addition to Clowder 1.x. At most 1,000 files. They cannot be downloaded, and nothing is extracted from them.',
  permission: 'serverAdmin',
  responses: { 200: s.Array(QuarantinedFile) },
  async handle(_request, { quarantine, users }) {
    const found = await quarantine.list()
    const authors = await users.getMany([...new Set(found.map(({ file }) => file.author))])
    const body = found.map(({ entry: { signature, at }, file }) => ({
      id: file.id,
      filename: file.name,
      size: file.sizeBytes,
      sha256: file.sha256,
      signature,
      date: at,
      authorId: file.author,
      author: authors.get(file.author)?.email ?? '',
      datasets: [...new Set(file.places.map(({ dataset }) => dataset))],
    }))
    return { status: 200, body }
  },
})

export const releaseQuarantined = route({
  method: 'POST',
  path: '/api/admin/quarantine/:id/release',
  summary: 'Release a file from quarantine as a false positive',
  description:
    'An addition to Clowder 1.x. Releases every file with the same bytes, and starts their pending extractions. A later scan does not quarantine them again for the same signature.',
  permission: 'serverAdmin',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params }, { quarantine }) {
    await quarantine.release(params.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteQuarantined = route({
  method: 'DELETE',
  path: '/api/admin/quarantine/:id',
  summary: 'Delete a quarantined file',
  description: 'An addition to Clowder 1.x. Like `DELETE /api/files/:id`, for server admins without superadmin mode.',
  permission: 'serverAdmin',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { quarantine }) {
    await quarantine.remove(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
