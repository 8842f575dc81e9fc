import { type Stored, s } from 'pounce/sdk'
import { type DefinitionRecord, everywhere } from './collection.ts'

/** A definition as Clowder 1.x has it. `spaceId` is absent for one of the whole installation. */
export const DefinitionJson = s.Object({
  id: s.String(),
  spaceId: s.Optional(s.String()),
  json: s.Object({
    label: s.String(),
    uri: s.String(),
    type: s.String(),
    description: s.Optional(s.String()),
    definitions_url: s.Optional(s.String()),
    query_parameter: s.Optional(s.String()),
  }),
})
type DefinitionJson = s.Static<typeof DefinitionJson>

const address = s.String({
  maxLength: 2000,
  pattern: '^(?:https?://[^\\s\\u0000-\\u001f\\u007f]+|/api/standardvocab/[0-9a-f]{24}/terms)?$',
  description: 'Where the words of a list are: an http or https address, or `/api/standardvocab/<id>/terms`',
})

/** What a client says of a definition. */
export const NewDefinition = s.Object({
  label: s.line(500),
  type: s.line(100),
  uri: s.Optional(
    s.String({
      maxLength: 2000,
      pattern: '^(?:(?:https?|urn|info|ark|doi|hdl|tag):[^\\s\\u0000-\\u001f\\u007f<>"]+|[\\w./#-]*(?::[\\w./#-]+)?)$',
      description:
        'What the field means, as an address (http, https, urn, doi …) or a short name such as `dc:title`; made from the label when it is empty or absent',
    }),
  ),
  description: s.Optional(s.prose()),
  definitions_url: s.Optional(address),
  query_parameter: s.Optional(s.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })),
})
export type NewDefinition = s.Static<typeof NewDefinition>

const member = <K extends string>(name: K, value: string | null): { readonly [N in K]?: string } =>
  (value === null ? {} : { [name]: value }) as { readonly [N in K]?: string }

export const toJson = (definition: DefinitionRecord & Stored): DefinitionJson => {
  const { id, scope, label, uri, type, description, definitionsUrl, queryParameter } = definition
  return {
    id,
    ...(scope === everywhere ? {} : { spaceId: scope }),
    json: {
      label,
      uri,
      type,
      ...member('description', description),
      ...member('definitions_url', definitionsUrl),
      ...member('query_parameter', queryParameter),
    },
  }
}

/** Definitions in the order they come. */
export async function* shown(definitions: AsyncIterable<DefinitionRecord & Stored>): AsyncIterable<DefinitionJson> {
  for await (const definition of definitions) yield toJson(definition)
}

/** Clowder's `{"status":"ok"}`. */
export const ok = () => s.Unsafe<{ readonly status: string }>(s.Object({ status: s.Literal('ok') }))
