import { Forbidden, Invalid, NotFound, rawJson, routesFor, s, signedIn, Unreachable } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { DefinitionJson, NewDefinition, ok, shown, toJson } from './definition-json.ts'
import { Keeping } from './definition-keeping.ts'
import { spacesOfCaller } from './definition-names.ts'
import { ListWords } from './definition-words.ts'
import { type Definition, Definitions } from './stored-definitions.ts'

const route = routesFor('definitions', { definitions: Definitions, keeping: Keeping, words: ListWords })

const params = s.Object({ id: s.id() })

export const listDefinitions = route({
  method: 'GET',
  path: '/api/metadata/definitions',
  summary: 'The metadata definitions of the whole installation, by label',
  permission: 'ViewDataset',
  responses: { 200: s.rows(DefinitionJson) },
  async handle(_request, { definitions }) {
    return { status: 200, body: shown(definitions.in(everywhere)) }
  },
})

/** Each once by what it says; what says the same has the same label, and labels come in order. */
async function* distinct(some: AsyncIterable<Definition>) {
  let label = ''
  let seen = new Set<string>()
  for await (const definition of some) {
    const one = toJson(definition)
    if (definition.label !== label) seen = new Set()
    label = definition.label
    const text = JSON.stringify(one.json)
    if (!seen.has(text)) yield one
    seen.add(text)
  }
}

export const listDistinctDefinitions = route({
  method: 'GET',
  path: '/api/metadata/distinctdefinitions',
  summary: "The definitions of the installation and of the caller's spaces, those that say the same once",
  permission: 'ViewDataset',
  responses: { 200: s.rows(DefinitionJson) },
  async handle({ caller }, { definitions }) {
    return { status: 200, body: distinct(definitions.in(everywhere, ...spacesOfCaller(caller))) }
  },
})

export const getDefinition = route({
  method: 'GET',
  path: '/api/metadata/definition/:id',
  summary: 'One metadata definition',
  permission: 'AddMetadata',
  params,
  responses: { 200: DefinitionJson },
  throws: [NotFound],
  async handle({ params, caller }, { keeping }) {
    return { status: 200, body: toJson(await keeping.visible(caller, params.id)) }
  },
})

export const getDefinitionWords = route({
  method: 'GET',
  path: '/api/metadata/definitions/:id',
  summary: 'What is at the definitions_url of a definition: the words of its list',
  description:
    'A standard vocabulary of this server is answered from here; other addresses are fetched as far as the setting `fetchFrom` allows, without cookies or keys of the caller, and kept for ten minutes.',
  permission: 'AddMetadata',
  params,
  responses: { 200: s.json() },
  throws: [Forbidden, Invalid, NotFound, Unreachable],
  async handle({ params, caller }, { keeping, words }) {
    const { definitionsUrl } = await keeping.visible(caller, params.id)
    return { status: 200, body: rawJson(await words.of(definitionsUrl)) }
  },
})

export const createDefinition = route({
  method: 'POST',
  path: '/api/metadata/definitions',
  summary: 'Define a metadata field for the whole installation',
  description: 'Each space gets a copy, in the background. One whose address is there already changes nothing.',
  permission: 'serverAdmin',
  body: NewDefinition,
  responses: { 200: ok() },
  throws: [Invalid],
  async handle({ body, caller }, { definitions }) {
    await definitions.add(everywhere, body, signedIn(caller).id)
    return { status: 200, body: { status: 'ok' } }
  },
})

export const updateDefinition = route({
  method: 'PUT',
  path: '/api/metadata/definitions/:id',
  summary: 'Change a metadata definition',
  description:
    'One of a space takes EditSpace there, one of the installation a server admin. Clowder 1.x checked nothing when the address was new.',
  permission: 'EditVocabulary',
  params,
  query: s.Object({ spaceId: s.Optional(s.id()) }),
  body: s.Object({ ...NewDefinition.properties, uri: s.String({ ...NewDefinition.properties.uri, minLength: 1 }) }),
  responses: { 200: ok() },
  throws: [Forbidden, Invalid, NotFound],
  async handle({ params, query, body, caller }, { definitions, keeping }) {
    const { id, scope } = await keeping.editable(caller, params.id)
    if (query.spaceId !== undefined && query.spaceId !== scope) throw new NotFound('definition')
    await definitions.change(id, body, caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})

export const deleteDefinition = route({
  method: 'DELETE',
  path: '/admin/metadata/definitions/:id',
  aliases: [{ path: '/api/metadata/definitions/:id' }],
  summary: 'Delete a metadata definition',
  description: 'Rights as for changing it. The copies that spaces have of one of the installation stay; so does metadata that uses it.',
  permission: 'CreateVocabulary',
  params,
  responses: { 200: ok() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { definitions, keeping }) {
    await definitions.remove(await keeping.editable(caller, params.id), caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})
