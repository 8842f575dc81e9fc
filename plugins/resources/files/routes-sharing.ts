import { type Bytes, event, Files, Forbidden, Installation, Invalid, LicenseBody, NotFound, one, routesFor, s, toLicense } from 'pounce/sdk'
import { FileDownloads } from './downloads.ts'
import { FileLinks } from './file-links.ts'
import { MemberJson, Members } from './members.ts'

const needs = { files: Files, downloads: FileDownloads, links: FileLinks, members: Members, installation: Installation }
const route = routesFor('files', needs)
const onDataset = routesFor('datasets', needs)
const params = s.Object({ id: s.id() })

export const licenseFile = route({
  method: 'POST',
  path: '/api/files/:id/license',
  summary: 'Say under which license a file is',
  description:
    'Short texts such as `by-nc-sa` are written out. A license that lets everybody download does so for all who may look at the file.',
  permission: 'EditLicense',
  of: one('file'),
  params,
  body: LicenseBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { files }) {
    const licensed = event('file.updated', { kind: 'file', id: params.id }, { fields: ['license'] }, caller.user?.id)
    await files.change(params.id, { set: { license: toLicense(body) } }, [licensed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const listFileUsers = route({
  method: 'GET',
  path: '/api/files/:id/users',
  summary: 'The people in the spaces of a file',
  description: 'Members of the spaces that its datasets are in, each once; an empty list when there are none.',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.rows(MemberJson) },
  throws: [NotFound],
  async handle({ params, caller }, { files, members }) {
    const file = await files.get(params.id)
    if (!file) throw new NotFound('file')
    return { status: 200, body: members.ofFile(caller, file) }
  },
})

export const listDatasetUsers = onDataset({
  method: 'GET',
  path: '/api/datasets/:id/users',
  summary: 'The people in the spaces of a dataset',
  description: 'Each once; an empty list when there are none.',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: s.rows(MemberJson) },
  throws: [NotFound],
  async handle({ params, caller }, { members }) {
    return { status: 200, body: members.ofDatasets(caller, [params.id]) }
  },
})

export const createFileLink = route({
  method: 'POST',
  path: '/files/:id/links',
  summary: 'Make a link by which anybody can download a file for seven days',
  description: 'It ends sooner with the file, and with the right of whoever made it to edit and download the file. It is shown this once.',
  permission: 'EditFile',
  of: one('file'),
  also: [{ permission: 'DownloadFiles', of: one('file') }],
  params,
  responses: { 200: s.Object({ link: s.String(), expire: s.v1Date() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { links, installation }) {
    const { token, expires } = await links.make(caller, params.id)
    return { status: 200, body: { link: `${installation.baseUrl}/files/links/${token}`, expire: s.toV1Date(expires) } }
  },
})

export const getFileByLink = route({
  method: 'GET',
  path: '/files/links/:link',
  summary: "A file's bytes, by a link that somebody made",
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({ link: s.String({ maxLength: 200 }) }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  effects: 'counts the download',
  answersHead: true,
  async handle({ params, isHead, headers }, { links, downloads }) {
    const file = await links.follow(params.link)
    if (!file) throw new NotFound('link')
    const isWhole = headers.range === undefined
    if (!isHead) downloads.count(file, undefined, { isTracked: isWhole || headers.range?.startsWith('bytes=0-') === true, isWhole })
    return { status: 200, body: downloads.bytesOf(file) }
  },
})
