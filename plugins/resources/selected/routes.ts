import { Archives, authorize, type Bytes, Invalid, NotFound, Policy, routesFor, s } from 'pounce/sdk'
import { Quarantined, ScanPending } from 'pounce/sdk/kit'
import { maxSelected, Selections } from './selections.ts'

const route = routesFor('selected', { selections: Selections, policy: Policy, archives: Archives })
const named = s.Object({ dataset: s.String({ maxLength: 100, description: 'Id of a dataset' }) })
const count = { 200: s.Object({ selected_count: s.Integer() }) }
const report = s.model(
  'SelectionReport',
  s.Object({
    success: s.String({ description: '`true` if every dataset was processed, else `false`' }),
    datasets: s.Array(
      s.Object({ id: s.String(), status: s.String({ description: '`done` or `refused`' }), message: s.Optional(s.String()) }),
    ),
  }),
)

const reported = (datasets: readonly { readonly id: string; readonly status: string; readonly message?: string }[]) => ({
  status: 200 as const,
  body: { success: String(datasets.every(({ status }) => status === 'done')), datasets: [...datasets] },
})

export const getSelected = route({
  method: 'GET',
  path: '/api/selected',
  summary: 'List the selected datasets',
  description: 'Existing datasets that the caller may view, in order of selection.',
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
  description: `At most ${maxSelected} at a time. Returns the number of selected datasets.`,
  permission: 'signedIn',
  body: named,
  responses: count,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { selections, policy }) {
    await authorize(policy, caller, 'ViewDataset', { kind: 'dataset', id: body.dataset }, 'frozen')
    return { status: 200, body: { selected_count: await selections.add(caller, body.dataset) } }
  },
})

export const unselectDataset = route({
  method: 'POST',
  path: '/api/selected/remove',
  summary: 'Deselect a dataset',
  description: 'No error if it is not selected.',
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
  summary: 'Clear the selection',
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
  summary: 'Add tags to all selected datasets',
  description: 'On datasets where the caller has the right; the response lists the refused ones with the reasons.',
  permission: 'signedIn',
  query: s.Object({ tags: s.repeated(s.line(1000)) }),
  responses: { 200: report },
  throws: [Invalid],
  async handle({ query, caller }, { selections }) {
    const names = query.tags.flatMap(tags => tags.split(',')).filter(name => name.trim() !== '')
    if (names.length === 0) throw new Invalid('tags is missing: at least one non-blank tag, as tags=a&tags=b or tags=a,b')
    return reported(await selections.tag(caller, names))
  },
})

export const downloadSelected = route({
  method: 'GET',
  path: '/api/selected/files',
  summary: 'Download all selected datasets as a ZIP',
  description: 'A folder for each dataset that the caller may download; requires at least one.',
  permission: 'signedIn',
  cost: 'archive',
  responses: { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) },
  throws: [NotFound, ScanPending, Quarantined],
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
  summary: 'Delete all selected datasets',
  description:
    'Datasets where the caller has the right, moved to the trash unless it is disabled; their contents follow in the background. The response lists the refused ones with the reasons; these stay selected.',
  permission: 'signedIn',
  responses: { 200: report },
  async handle({ caller }, { selections }) {
    return reported(await selections.discard(caller))
  },
})
