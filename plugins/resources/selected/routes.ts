import { Archives, type Bytes, demand, Invalid, NotFound, Policy, routesFor, s } from 'pounce/sdk'
import { mostSelected } from './collection.ts'
import { Selecting } from './selections.ts'

const route = routesFor('selected', { selections: Selecting, policy: Policy, archives: Archives })
const named = s.Object({ dataset: s.String({ maxLength: 100, description: 'Id of a dataset' }) })
const count = { 200: s.Object({ selected_count: s.Integer() }) }
const report = s.Object({
  success: s.String({ description: '`true` when every dataset was dealt with, else `false`' }),
  datasets: s.Array(
    s.Object({ id: s.String(), status: s.String({ description: '`done` or `refused`' }), message: s.Optional(s.String()) }),
  ),
})

const reported = (datasets: readonly { readonly id: string; readonly status: string; readonly message?: string }[]) => ({
  status: 200 as const,
  body: { success: String(datasets.every(({ status }) => status === 'done')), datasets: [...datasets] },
})

export const getSelected = route({
  method: 'GET',
  path: '/api/selected',
  summary: 'The datasets that the caller has selected',
  description: 'Those that are there and that the caller may see, in the order in which they were selected.',
  permission: 'signedIn',
  responses: { 200: s.Array(s.String()) },
  async handle({ caller }, { selections }) {
    return { status: 200, body: [...(await selections.of(caller))] }
  },
})

export const selectDataset = route({
  method: 'POST',
  path: '/api/selected',
  summary: 'Select a dataset',
  description: `At most ${mostSelected} at a time. Answers how many are selected then.`,
  permission: 'signedIn',
  body: named,
  responses: count,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { selections, policy }) {
    await demand(policy, caller, 'ViewDataset', { kind: 'dataset', id: body.dataset })
    return { status: 200, body: { selected_count: await selections.add(caller, body.dataset) } }
  },
})

export const unselectDataset = route({
  method: 'POST',
  path: '/api/selected/remove',
  summary: 'Take a dataset out of what is selected',
  description: 'One that is not selected is no error.',
  permission: 'signedIn',
  body: named,
  responses: count,
  throws: [Invalid],
  async handle({ body, caller }, { selections }) {
    return { status: 200, body: { selected_count: await selections.remove(caller, [body.dataset]) } }
  },
})

export const clearSelected = route({
  method: 'POST',
  path: '/api/selected/clear',
  summary: 'Select nothing any more',
  permission: 'signedIn',
  responses: { 200: s.Object({ success: s.String() }) },
  async handle({ caller }, { selections }) {
    await selections.clear(caller)
    return { status: 200, body: { success: 'true' } }
  },
})

export const tagSelected = route({
  method: 'POST',
  path: '/api/selected/tag',
  summary: 'Put tags on every selected dataset',
  description: 'On those where the caller may; the answer says which were refused and why.',
  permission: 'signedIn',
  query: s.Object({ tags: s.repeated(s.line(1000)) }),
  responses: { 200: report },
  throws: [Invalid],
  async handle({ query, caller }, { selections }) {
    const names = query.tags.flatMap(tags => tags.split(',')).filter(name => name.trim() !== '')
    if (names.length === 0) throw new Invalid('tags is missing: at least one tag that is not blank, as tags=a&tags=b or tags=a,b')
    return reported(await selections.tag(caller, names))
  },
})

export const downloadSelected = route({
  method: 'GET',
  path: '/api/selected/files',
  summary: 'The selected datasets as one ZIP, a folder for each',
  description: 'Those that the caller may download; it takes at least one.',
  permission: 'signedIn',
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ caller }, { selections, archives }) {
    const ids = await selections.downloadable(caller)
    if (ids.length === 0) throw new NotFound('selected dataset')
    const { bytes } = await archives.ofDatasets(ids, 'selected.zip')
    return { status: 200, body: bytes }
  },
})

export const deleteSelected = route({
  method: 'DELETE',
  path: '/api/selected/files',
  summary: 'Delete every selected dataset',
  description:
    'Those where the caller may, to the trash unless that is off; what is in them follows in the background. The answer says which were refused and why; these stay selected.',
  permission: 'signedIn',
  responses: { 200: report },
  async handle({ caller }, { selections }) {
    return reported(await selections.discard(caller))
  },
})
