import { Invalid, type Kind, NotFound, one, type Ref, routesFor, s, signedIn } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { DefinitionJson, NewDefinition, ok, shown } from './definition-json.ts'
import { Keeping } from './definition-keeping.ts'
import { SpacesOfThings } from './spaces-of.ts'
import { Definitions } from './stored-definitions.ts'

const needs = { definitions: Definitions, keeping: Keeping, spaces: SpacesOfThings }
const ofSpaces = routesFor('spaces', needs)

const params = s.Object({ id: s.id() })

export const listSpaceDefinitions = ofSpaces({
  method: 'GET',
  path: '/api/spaces/:id/metadata',
  summary: 'The metadata definitions of a space, by label',
  permission: 'ViewSpace',
  of: one('space'),
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
  summary: 'Define a metadata field for a space',
  description: 'One whose address the space has already changes nothing.',
  permission: 'EditSpace',
  of: one('space'),
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
    summary: `The metadata definitions for a ${kind}: those of its spaces, or else those of the installation`,
    permission: 'AddMetadata',
    of: one(kind),
    also: [{ permission: 'ViewSpace', of: ({ space }): readonly Ref[] => (space === undefined ? [] : [{ kind: 'space', id: space }]) }],
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
