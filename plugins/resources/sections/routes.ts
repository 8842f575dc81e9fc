import { demand, event, Invalid, NotFound, one, Policy, routesFor, s } from 'pounce/sdk'
import { PostedSection, SectionJson, toSectionJson } from './section-json.ts'
import { SectionDesk } from './stored-sections.ts'

const route = routesFor('sections', { sections: SectionDesk, policy: Policy })
const params = s.Object({ id: s.id() })

export const createSection = route({
  method: 'POST',
  path: '/api/sections',
  summary: 'Make a section: a part of a file',
  description: 'Members that have no meaning here are kept. Clowder 1.x asked for no right on the file.',
  permission: 'CreateSection',
  body: PostedSection,
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { sections, policy }) {
    const { file_id: file } = body
    if (file === undefined) throw new Invalid('No "file_id" specified: name the file that this is a part of')
    await demand(policy, caller, 'CreateSection', { kind: 'file', id: file })
    const { id } = await sections.create(file, body, caller.user?.id)
    return { status: 200, body: { id } }
  },
})

export const getSection = route({
  method: 'GET',
  path: '/api/sections/:id',
  summary: 'One section',
  permission: 'ViewSection',
  of: one('section'),
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
  description: 'Its previews, thumbnails and comments are gone with it; they are swept away in the background.',
  permission: 'DeleteSection',
  of: one('section'),
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
  summary: "Change a section's description",
  permission: 'EditSection',
  of: one('section'),
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
  summary: 'The ids of the sections of a file, by start time',
  permission: 'ViewFile',
  of: one('file'),
  params,
  responses: { 200: s.rows(s.String()) },
  throws: [NotFound],
  async handle({ params }, { sections }) {
    return { status: 200, body: sections.idsOf(params.id) }
  },
})
