import { Conflict, Invalid, NotFound, routesFor, s, signedIn } from 'pounce/sdk'
import { maxSavedSearches, SavedSearches } from './saved-searches.ts'

const route = routesFor('search', { saved: SavedSearches })

const SavedSearchJson = s.model(
  'SavedSearch',
  s.Object({ id: s.String(), name: s.String(), query: s.String(), created: s.String({ format: 'date-time' }) }),
)

export const listSavedSearches = route({
  method: 'GET',
  path: '/api/me/searches',
  summary: "List the caller's saved searches, oldest first",
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 200: s.Array(SavedSearchJson) },
  async handle({ caller }, { saved }) {
    return { status: 200, body: [...(await saved.of(signedIn(caller).id))] }
  },
})

export const saveSearch = route({
  method: 'POST',
  path: '/api/me/searches',
  summary: 'Add a saved search',
  description: `At most ${maxSavedSearches}, with unique names. The query is in the language of \`GET /api/search\`.`,
  permission: 'signedIn',
  limitedKeys: 'refused',
  body: s.model('NewSavedSearch', s.Object({ name: s.line(200), query: s.String({ maxLength: 10_000 }) })),
  responses: { 200: SavedSearchJson },
  throws: [Invalid, Conflict],
  async handle({ caller, body: { name, query } }, { saved }) {
    const { readQuery } = await import('pounce/sdk/search/language')
    readQuery(query)
    return { status: 200, body: await saved.save(signedIn(caller).id, { name, query }) }
  },
})

export const deleteSavedSearch = route({
  method: 'DELETE',
  path: '/api/me/searches/:search',
  summary: 'Delete a saved search',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: s.Object({ search: s.String({ maxLength: 100 }) }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ caller, params }, { saved }) {
    await saved.remove(signedIn(caller).id, params.search)
    return { status: 200, body: { status: 'success' } }
  },
})
