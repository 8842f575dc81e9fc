import { type Bytes, type Caller, Conflict, Forbidden, Invalid, NotFound, Policy, ref, routesFor, s, signedIn, TooMany } from 'pounce/sdk'
import { PersonalErasure } from './erasure.ts'
import { PersonalExport } from './export.ts'

const route = routesFor('users', { exporting: PersonalExport, erasing: PersonalErasure, policy: Policy })
const params = s.Object({ id: s.id() })

const requireFullReach = (caller: Caller): void => {
  if (caller.scope !== 'full' || caller.limits !== undefined)
    throw new Forbidden('This requires a session, the password or an unlimited API key')
}

export const exportPersonalData = route({
  method: 'POST',
  path: '/api/users/:id/export',
  summary: 'Export the personal data of an account',
  description:
    'An addition to Clowder 1.x, for the user and for server admins: a ZIP of JSON files, with a `README.txt` that describes each. Secrets, file contents, and data about other people are not included. The export is recorded in the audit log.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  stepUp: true,
  params,
  responses: { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) },
  throws: [NotFound, Forbidden, TooMany],
  async handle({ params: { id }, caller }, { exporting }) {
    requireFullReach(caller)
    return { status: 200, body: await exporting.of(id, signedIn(caller).id), headers: { 'cache-control': 'no-store' } }
  },
})

export const erasePersonalData = route({
  method: 'DELETE',
  path: '/api/users/:id',
  summary: 'Erase the personal data of an account',
  description:
    'An addition to Clowder 1.x, for the user and for server admins. The account is locked at once and the response is 202; the rest follows within moments. Name, address, profile, credentials, memberships and private records are deleted; the id is kept as "Deleted User", so that references stay valid. With `heir`, the id of an active account, the resources of the user are transferred to it. 409 for the last server admin, and for the last user who can edit a space. Cannot be undone.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  stepUp: true,
  params,
  query: s.Object({ heir: s.Optional(s.id()) }),
  responses: { 202: s.success() },
  throws: [NotFound, Forbidden, Invalid, Conflict],
  async handle({ params: { id }, query: { heir }, caller }, { erasing, policy }) {
    requireFullReach(caller)
    if (heir !== undefined && (await policy.canOn(caller, 'ViewUser', { kind: 'user', id: heir })) !== 'yes') throw new NotFound('user')
    await erasing.request(id, heir, signedIn(caller).id)
    return { status: 202, body: { status: 'success' } }
  },
})
