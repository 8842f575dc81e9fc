import { type After, Installation, Invalid, routesFor, s } from 'pounce/sdk'
import { type KnownNames, Names } from './known-names.ts'

const route = routesFor('users', { names: Names, installation: Installation })
const name = s.line(200)
const page = s.Object({
  limit: s.Integer({ default: 1000, minimum: 1, maximum: 1000 }),
  after: s.Optional(s.String({ maxLength: 1000, description: 'From a `Link` header: where the page before this one ended' })),
})

const readAfter = (text: string): After => {
  const at = text.lastIndexOf('_')
  const id = text.slice(at + 1)
  if (at < 1 || !s.isId(id)) throw new Invalid('after is not one that a Link header gave out')
  return [text.slice(0, at), id]
}

const answer = async (
  names: KnownNames,
  list: 'institutions' | 'projects',
  { limit, after }: s.Static<typeof page>,
  { url, baseUrl }: { readonly url: URL; readonly baseUrl: string },
) => {
  const { items, next } = await names.page(list, { limit, ...(after === undefined ? {} : { after: readAfter(after) }) })
  const body = items.map(one => one.name)
  if (next === undefined) return { status: 200 as const, body }
  const further = new URLSearchParams(url.search)
  further.set('after', next.join('_'))
  return { status: 200 as const, body, headers: { link: `<${baseUrl}${url.pathname}?${further}>; rel="next"` } }
}

export const addInstitution = route({
  method: 'POST',
  path: '/api/institutions/addinstitution',
  summary: 'Add an institution that people can name in their profiles',
  description: 'Anybody with an active account may. One that is there already, whatever its case, is no error.',
  permission: 'EditUser',
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
  summary: 'Add a project that people can name in their profiles',
  description: 'Anybody with an active account may. One that is there already, whatever its case, is no error.',
  permission: 'EditUser',
  query: s.Object({ project: name }),
  responses: { 200: s.String() },
  throws: [Invalid],
  async handle({ query }, { names }) {
    await names.add('projects', query.project)
    return { status: 200, body: 'added project' }
  },
})

export const listInstitutions = route({
  method: 'GET',
  path: '/api/institutions',
  summary: 'The institutions that were added, by name',
  description: 'An addition to Clowder 1.x.',
  permission: 'signedIn',
  query: page,
  responses: { 200: s.Array(s.String()) },
  throws: [Invalid],
  async handle({ query, url }, { names, installation }) {
    return answer(names, 'institutions', query, { url, baseUrl: installation.baseUrl })
  },
})

export const listProjects = route({
  method: 'GET',
  path: '/api/projects',
  summary: 'The projects that were added, by name',
  description: 'An addition to Clowder 1.x.',
  permission: 'signedIn',
  query: page,
  responses: { 200: s.Array(s.String()) },
  throws: [Invalid],
  async handle({ query, url }, { names, installation }) {
    return answer(names, 'projects', query, { url, baseUrl: installation.baseUrl })
  },
})
