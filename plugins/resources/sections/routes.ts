import { authorize, event, Invalid, NotFound, Policy, ref, routesFor, s } from 'pounce/sdk'
import { PostedSection, SectionJson, StoredSections, toSectionJson } from './stored-sections.ts'

const route = routesFor('sections', { sections: StoredSections, policy: Policy })
const params = s.Object({ id: s.id() })

export const createSection = route({
  method: 'POST',
  path: '/api/sections',
  summary: 'Create a section of a file',
  description: 'Unknown members are stored. Clowder 1.x required no right on the file.',
  permission: { right: 'CreateSection', unscoped: 'The body names the file; the handler checks CreateSection on it.' },
  jobKeys: 'allowed',
  body: PostedSection,
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { sections, policy }) {
    const { file_id: file } = body
    if (file === undefined) throw new Invalid('No "file_id" specified: the file of the section')
    await authorize(policy, caller, 'CreateSection', { kind: 'file', id: file })
    const { id } = await sections.create(file, body, caller.user?.id)
    return { status: 200, body: { id } }
  },
})

export const getSection = route({
  method: 'GET',
  path: '/api/sections/:id',
  summary: 'Get a section',
  permission: { right: 'ViewSection', on: ref('section', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: SectionJson },
  throws: [NotFound],
  async handle({ params }, { sections }) {
    const section = await sections.get(params.id)
    if (!section) throw new NotFound('section')
    return { status: 200, body: toSectionJson(section) }
  },
})

export const deleteSection = route({
  method: 'DELETE',
  path: '/api/sections/:id',
  summary: 'Delete a section',
  description: 'Its previews, thumbnails and comments are hidden at once and deleted in the background.',
  permission: { right: 'DeleteSection', on: ref('section', 'id') },
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { sections }) {
    const section = await sections.get(params.id)
    if (section) await sections.remove(section, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const describeSection = route({
  method: 'POST',
  path: '/api/sections/:id/description',
  summary: 'Update the description of a section',
  permission: { right: 'EditSection', on: ref('section', 'id') },
  jobKeys: 'allowed',
  params,
  body: s.Object({ description: s.prose() }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { sections }) {
    const section = await sections.get(params.id)
    if (!section) throw new NotFound('section')
    const updated = event('section.updated', { kind: 'section', id: params.id }, { file: section.file }, caller.user?.id)
    await sections.change(params.id, { set: { description: body.description } }, [updated])
    return { status: 200, body: { status: 'success' } }
  },
})

export const listFileSections = route({
  method: 'GET',
  path: '/api/files/:id/sections',
  summary: "List the ids of a file's sections by start time",
  permission: { right: 'ViewFile', on: ref('file', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.rows(s.String()) },
  throws: [NotFound],
  async handle({ params }, { sections }) {
    return { status: 200, body: sections.idsOf(params.id) }
  },
})
