import { event, Files, Invalid, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { ChangedMeanwhile, changeIfMatching, LicenseBody, toLicense } from 'pounce/sdk/kit'
import { FileSpaceMembers, MemberJson } from './members.ts'

const needs = { files: Files, members: FileSpaceMembers }
const route = routesFor('files', needs)
const onDataset = routesFor('datasets', needs)
const params = s.Object({ id: s.id() })

export const licenseFile = route({
  method: 'POST',
  path: '/api/files/:id/license',
  summary: 'Set the license of a file',
  description:
    'Short names such as `by-nc-sa` are expanded. A license that allows everyone to download applies to all who may view the file.',
  permission: { right: 'EditLicense', on: ref('file', 'id') },
  params,
  body: LicenseBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { files }) {
    const file = { kind: 'file', id: params.id } as const
    const licensed = event('file.updated', file, { fields: ['license'] }, caller.user?.id)
    await changeIfMatching(files, file, headers['if-match'], { set: { license: toLicense(body) } }, [licensed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const listFileUsers = route({
  method: 'GET',
  path: '/api/files/:id/users',
  summary: "List the members of a file's spaces",
  description: 'Members of the spaces of its datasets, each once; an empty list if there are none.',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
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
  summary: "List the members of a dataset's spaces",
  description: 'Each once; an empty list if there are none.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  params,
  responses: { 200: s.rows(MemberJson) },
  throws: [NotFound],
  async handle({ params, caller }, { members }) {
    return { status: 200, body: members.ofDatasets(caller, [params.id]) }
  },
})
