import { Invalid, type Kind, NotFound, type Ref, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { DefinitionJson, NewDefinition, ok, shown } from './definition-json.ts'
import { DefinitionService } from './definition-service.ts'
import { SpacesOf } from './spaces-of.ts'
import { StoredDefinitions } from './stored-definitions.ts'

const needs = { definitions: StoredDefinitions, keeping: DefinitionService, spaces: SpacesOf }
const ofSpaces = routesFor('spaces', needs)

const params = s.Object({ id: s.id() })

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
    async handle({ params, query, caller }, { definitions, keeping, spaces }) {
      const around = await spaces.of({ kind, id: params.id })
      const wanted = query.space === undefined ? around : around.filter(space => space === query.space)
      const scopes = await keeping.visibleSpaces(caller, wanted)
      const isDefined = await definitions.hasAny(scopes)
      return { status: 200, body: shown(isDefined ? definitions.in(...scopes) : definitions.in(everywhere)) }
    },
  })

export const listFileDefinitions = listFor('file', 'files', '/api/files/:id/metadataDefinitions')
export const listDatasetDefinitions = listFor('dataset', 'datasets', '/api/datasets/:id/metadata')
