import {
  type Bytes,
  type Caller,
  Files,
  Forbidden,
  Installation,
  Invalid,
  NotFound,
  Policy,
  ref,
  routesFor,
  s,
  signedIn,
  TooMany,
  Users,
} from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, peopleFor, Quarantined, ScanPending, ShownPerson } from 'pounce/sdk/kit'
import { FileDownloads } from './file-downloads.ts'
import { FileLinks, type LinksOf } from './file-links.ts'

const needs = { links: FileLinks, files: Files, users: Users, policy: Policy, downloads: FileDownloads, installation: Installation }
const route = routesFor('files', needs)
const ofUsers = routesFor('users', needs)
const params = s.Object({ id: s.id() })
const window = s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() })

const LinkJson = s.model(
  'DownloadLink',
  s.Object({
    id: s.id(),
    file: s.Object({ id: s.id(), name: s.String({ description: 'Empty for callers who may not view the file (any more)' }) }),
    maker: ShownPerson,
    created: s.v1Date(),
    expires: s.v1Date(),
    lastUsed: s.Union([s.v1Date(), s.Null()], { description: 'Accurate to a minute; null if never used' }),
  }),
)

interface Ports {
  readonly links: FileLinks
  readonly files: Files
  readonly users: Users
  readonly policy: Policy
}

/** A page of links as shown to a caller: tokens are not stored, so none is shown. */
const pageFor = async ({ links, files, users, policy }: Ports, caller: Caller, of: LinksOf, query: s.Static<typeof window>) => {
  const page = await links.list(of, pageOf(query))
  const ids = [...new Set(page.items.map(({ file }) => file))]
  const [found, seen, person] = await Promise.all([
    files.getMany(ids),
    policy.allowed(caller, 'ViewFile', 'file', ids),
    peopleFor(
      users,
      policy,
      caller,
      page.items.map(({ maker }) => maker),
    ),
  ])
  const body = page.items.map(({ id, file, maker, created, expires, lastUsed }) => ({
    ...{ id, file: { id: file, name: seen.has(file) ? (found.get(file)?.name ?? '') : '' }, maker: person(maker) },
    ...{ created: s.toV1Date(created), expires: s.toV1Date(expires), lastUsed: lastUsed ? s.toV1Date(lastUsed) : null },
  }))
  return { page, body }
}

export const createFileLink = route({
  method: 'POST',
  path: '/files/:id/links',
  summary: 'Create a public download link for a file',
  description:
    'Valid for seven days (`resources.files.linkDays`). It has the rights of the credential that created it, checked at each use, and ends with the file, the right to edit and download it, the key or session, a password change, or suspension of the account. It is shown once; use `id` to revoke it.',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  alsoRequires: [{ right: 'DownloadFiles', on: ref('file', 'id') }],
  params,
  responses: { 200: s.model('NewDownloadLink', s.Object({ link: s.String(), expire: s.v1Date(), id: s.id() })) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { links, installation }) {
    const { id, token, expires } = await links.make(caller, params.id)
    return { status: 200, body: { link: `${installation.baseUrl}/files/links/${token}`, expire: s.toV1Date(expires), id } }
  },
})

export const getFileByLink = route({
  method: 'GET',
  path: '/files/links/:link',
  summary: 'Download a file by a link',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ link: s.String({ maxLength: 200 }) }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound, TooMany, ScanPending, Quarantined],
  effects: 'counts the download and records the use of the link',
  answersHead: true,
  async handle({ params, isHead, address }, { links, downloads }) {
    const found = await links.follow(params.link, address)
    if (!found) throw new NotFound('link')
    const { file, link } = found
    downloads.requireUsable(file)
    if (!isHead) links.used(link, address)
    return { status: 200, body: downloads.countedBytesOf(file, undefined) }
  },
})

export const listFileLinks = route({
  method: 'GET',
  path: '/api/files/:id/links',
  summary: 'List the download links of a file',
  description: 'An addition to Clowder 1.x. Valid links of all users, newest first.',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  params,
  query: window,
  responses: { 200: s.Array(LinkJson) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, ports) {
    const { page, body } = await pageFor(ports, caller, { file: params.id }, query)
    return { status: 200, body, ...linkToNext(ports.installation.baseUrl, url, page, { dated: false }) }
  },
})

export const revokeFileLink = route({
  method: 'DELETE',
  path: '/api/files/:id/links/:link',
  summary: 'Revoke a download link of a file',
  description: 'An addition to Clowder 1.x. Users who may edit the file may revoke any of its links.',
  permission: { right: 'EditFile', on: ref('file', 'id') },
  params: s.Object({ id: s.id(), link: s.id() }),
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params: { id, link }, caller }, { links }) {
    if (!(await links.revoke(link, { file: id }, caller.user?.id))) throw new NotFound('link')
    return { status: 204, body: undefined }
  },
})

export const listOwnLinks = ofUsers({
  method: 'GET',
  path: '/api/users/links',
  summary: 'List my download links',
  description: 'An addition to Clowder 1.x. Valid links, newest first.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: window,
  responses: { 200: s.Array(LinkJson) },
  throws: [Invalid],
  async handle({ query, caller, url }, ports) {
    const { page, body } = await pageFor(ports, caller, { maker: signedIn(caller).id }, query)
    return { status: 200, body, ...linkToNext(ports.installation.baseUrl, url, page, { dated: false }) }
  },
})

export const revokeOwnLink = ofUsers({
  method: 'DELETE',
  path: '/api/users/links/:link',
  summary: 'Revoke one of my download links',
  description: 'An addition to Clowder 1.x.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: s.Object({ link: s.id() }),
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { links }) {
    const me = signedIn(caller).id
    if (!(await links.revoke(params.link, { maker: me }, me))) throw new NotFound('link')
    return { status: 204, body: undefined }
  },
})

export const revokeOwnLinks = ofUsers({
  method: 'DELETE',
  path: '/api/users/links',
  summary: 'Revoke all my download links',
  description: 'An addition to Clowder 1.x.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 204: s.empty() },
  async handle({ caller }, { links }) {
    const me = signedIn(caller).id
    await links.revokeAll({ maker: me }, me)
    return { status: 204, body: undefined }
  },
})

export const listLinksOfUser = ofUsers({
  method: 'GET',
  path: '/api/users/:id/links',
  summary: 'List the download links of a user',
  description: 'An addition to Clowder 1.x.',
  permission: 'serverAdmin',
  params,
  query: window,
  responses: { 200: s.Array(LinkJson) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, ports) {
    if (!(await ports.users.get(params.id))) throw new NotFound('user')
    const { page, body } = await pageFor(ports, caller, { maker: params.id }, query)
    return { status: 200, body, ...linkToNext(ports.installation.baseUrl, url, page, { dated: false }) }
  },
})

export const revokeLinksOfUser = ofUsers({
  method: 'DELETE',
  path: '/api/users/:id/links',
  summary: 'Revoke all download links of a user',
  description: 'An addition to Clowder 1.x.',
  permission: 'serverAdmin',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { links, users }) {
    if (!(await users.get(params.id))) throw new NotFound('user')
    await links.revokeAll({ maker: params.id }, signedIn(caller).id)
    return { status: 204, body: undefined }
  },
})
