import { Forbidden, Invalid, type Kind, NotFound, type Ref, ref, routesFor, s, signedIn, Unreachable } from 'pounce/sdk'
import { rawJson } from 'pounce/sdk/kit'
import { everywhere } from './collection.ts'
import { ChangedDefinition, DefinitionJson, NewDefinition, ok, shown, toJson } from './definition-json.ts'
import { DefinitionService, SpacesOf } from './definition-service.ts'
import { DefinitionTerms } from './definition-terms.ts'
import { type Definition, StoredDefinitions, spacesOfCaller } from './stored-definitions.ts'

const route = routesFor('definitions', {
  definitions: StoredDefinitions,
  definitionService: DefinitionService,
  definitionTerms: DefinitionTerms,
})

const params = s.Object({ id: s.id() })

export const listDefinitions = route({
  method: 'GET',
  path: '/api/metadata/definitions',
  summary: 'List the metadata definitions of the installation',
  permission: { right: 'ViewDataset', unscoped: 'The definitions listed are those of the installation.' },
  responses: { 200: s.rows(DefinitionJson) },
  async handle(_request, { definitions }) {
    return { status: 200, body: shown(definitions.in(everywhere)) }
  },
})

/** Distinct by content; equal definitions have equal labels, and the input is sorted by label. */
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
  summary: 'List distinct metadata definitions of the caller',
  description: 'Definitions of the installation and of the spaces of the caller, without duplicates.',
  permission: { right: 'ViewDataset', unscoped: "The list holds the definitions of the installation and of the caller's own spaces." },
  responses: { 200: s.rows(DefinitionJson) },
  async handle({ caller }, { definitions }) {
    return { status: 200, body: distinct(definitions.in(everywhere, ...spacesOfCaller(caller))) }
  },
})

export const getDefinition = route({
  method: 'GET',
  path: '/api/metadata/definition/:id',
  summary: 'Get a metadata definition',
  permission: {
    right: 'AddMetadata',
    unscoped: 'A definition has no rights of its own; the handler checks ViewSpace on the space that it is of.',
  },
  params,
  responses: { 200: DefinitionJson },
  throws: [NotFound],
  async handle({ params, caller }, { definitionService }) {
    return { status: 200, body: toJson(await definitionService.visible(caller, params.id)) }
  },
})

export const getDefinitionTerms = route({
  method: 'GET',
  path: '/api/metadata/definitions/:id',
  summary: "Get the terms of a metadata definition's list",
  description:
    'A standard vocabulary of this server is returned directly; other URLs are fetched if the setting `fetchFrom` allows it, without cookies or keys of the caller, and cached for ten minutes.',
  permission: {
    right: 'AddMetadata',
    unscoped: 'A definition has no rights of its own; the handler checks ViewSpace on the space that it is of.',
  },
  params,
  responses: { 200: s.json() },
  throws: [Forbidden, Invalid, NotFound, Unreachable],
  async handle({ params, caller }, { definitionService, definitionTerms }) {
    const { definitionsUrl } = await definitionService.visible(caller, params.id)
    return { status: 200, body: rawJson(await definitionTerms.of(definitionsUrl)) }
  },
})

export const createDefinition = route({
  method: 'POST',
  path: '/api/metadata/definitions',
  summary: 'Add a metadata definition to the installation',
  description:
    'Each space gets a copy, in the background; a space without definitions gets copies of all, because it uses those of the installation until then. A definition whose URI exists already changes nothing.',
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
  summary: 'Update a metadata definition',
  description:
    'A definition of a space requires EditSpace there, one of the installation a server admin. Clowder 1.x checked nothing if the URI was new.',
  permission: {
    right: 'EditVocabulary',
    unscoped: 'A definition has no rights of its own; the handler checks EditSpace on its space, or that a server admin asks.',
  },
  params,
  query: s.Object({ spaceId: s.Optional(s.id()) }),
  body: ChangedDefinition,
  responses: { 200: ok() },
  throws: [Forbidden, Invalid, NotFound],
  async handle({ params, query, body, caller }, { definitions, definitionService }) {
    const { id, scope } = await definitionService.editable(caller, params.id)
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
  description: 'Same rights as for updating it. Copies of an installation definition in spaces are kept; so is metadata that uses it.',
  permission: {
    right: 'CreateVocabulary',
    unscoped: 'A definition has no rights of its own; the handler checks EditSpace on its space, or that a server admin asks.',
  },
  params,
  responses: { 200: ok() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { definitions, definitionService }) {
    await definitions.remove(await definitionService.editable(caller, params.id), caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})

const needs = { definitions: StoredDefinitions, definitionService: DefinitionService, spaces: SpacesOf }

const ofSpaces = routesFor('spaces', needs)

export const listSpaceDefinitions = ofSpaces({
  method: 'GET',
  path: '/api/spaces/:id/metadata',
  summary: 'List the metadata definitions of a space',
  permission: { right: 'ViewSpace', on: ref('space', 'id') },
  params,
  responses: { 200: s.rows(DefinitionJson) },
  throws: [NotFound],
  async handle({ params }, { definitions }) {
    return { status: 200, body: shown(definitions.in(params.id)) }
  },
})

export const createSpaceDefinition = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/metadata',
  summary: 'Add a metadata definition to a space',
  description: 'A definition whose URI exists in the space already changes nothing.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: NewDefinition,
  responses: { 200: ok() },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { definitions }) {
    await definitions.add(params.id, body, signedIn(caller).id)
    return { status: 200, body: { status: 'ok' } }
  },
})

const listFor = (kind: Kind, group: string, path: string) =>
  routesFor(
    group,
    needs,
  )({
    method: 'GET',
    path,
    summary: `List the metadata definitions for a ${kind}`,
    description: 'Those of its spaces, or else those of the installation.',
    permission: { right: 'AddMetadata', on: ref(kind, 'id') },
    alsoRequires: [{ right: 'ViewSpace', on: ({ space }): readonly Ref[] => (space === undefined ? [] : [{ kind: 'space', id: space }]) }],
    params,
    query: s.Object({ space: s.Optional(s.id()) }),
    responses: { 200: s.rows(DefinitionJson) },
    throws: [NotFound],
    async handle({ params, query, caller }, { definitions, definitionService, spaces }) {
      const around = await spaces.of({ kind, id: params.id })
      const wanted = query.space === undefined ? around : around.filter(space => space === query.space)
      const scopes = await definitionService.visibleSpaces(caller, wanted)
      const isDefined = await definitions.hasAny(scopes)
      return { status: 200, body: shown(isDefined ? definitions.in(...scopes) : definitions.in(everywhere)) }
    },
  })

export const listFileDefinitions = listFor('file', 'files', '/api/files/:id/metadataDefinitions')

export const listDatasetDefinitions = listFor('dataset', 'datasets', '/api/datasets/:id/metadata')
