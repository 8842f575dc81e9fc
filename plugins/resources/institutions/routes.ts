import { Installation, Invalid, routesFor, s } from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, readNamedAfter } from 'pounce/sdk/kit'
import { InstitutionNames } from './institution-names.ts'

const route = routesFor('users', { names: InstitutionNames, installation: Installation })
const name = s.line(200)

export const addInstitution = route({
  method: 'POST',
  path: '/api/institutions/addinstitution',
  summary: 'Add an institution for user profiles',
  description: 'For any active account. An existing name, ignoring case, is no error.',
  permission: { right: 'EditUser', unscoped: 'The list of institutions belongs to the installation.' },
  query: s.Object({ institution: name }),
  responses: { 200: s.String() },
  throws: [Invalid],
  async handle({ query }, { names }) {
    await names.add('institutions', query.institution)
    return { status: 200, body: 'added institution' }
  },
})

export const addProject = route({
  method: 'POST',
  path: '/api/projects/addproject',
  summary: 'Add a project for user profiles',
  description: 'For any active account. An existing name, ignoring case, is no error.',
  permission: { right: 'EditUser', unscoped: 'The list of projects belongs to the installation.' },
  query: s.Object({ project: name }),
  responses: { 200: s.String() },
  throws: [Invalid],
  async handle({ query }, { names }) {
    await names.add('projects', query.project)
    return { status: 200, body: 'added project' }
  },
})

const listOf = (list: 'institutions' | 'projects') =>
  route({
    method: 'GET',
    path: `/api/${list}`,
    summary: `List ${list} by name`,
    description: 'An addition to Clowder 1.x.',
    permission: 'signedIn',
    query: s.Object({ limit: s.Integer({ default: 1000, minimum: 1, maximum: 1000 }), after: afterParameter(1000) }),
    responses: { 200: s.Array(s.String()) },
    throws: [Invalid],
    async handle({ query, url }, { names, installation }) {
      const page = await names.page(list, pageOf(query, readNamedAfter))
      const body = page.items.map(one => one.name)
      return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
    },
  })

export const listInstitutions = listOf('institutions')
export const listProjects = listOf('projects')
