import { Invalid, type Stored, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { type DefinitionRecord, everywhere } from './collection.ts'

/** A definition in the format of Clowder 1.x. `spaceId` is absent for one of the installation. */
export const DefinitionJson = s.model(
  'MetadataDefinition',
  s.Object({
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
  }),
)
type DefinitionJson = s.Static<typeof DefinitionJson>

const uriForm = /^(?:(?:https?|urn|info|ark|doi|hdl|tag):[^\s\p{Cc}<>"]+|[\w./#-]*(?::[\w./#-]+)?)$/u
const addressForm = /^(?:https?:\/\/[^\s\p{Cc}]+|\/api\/standardvocab\/[0-9a-f]{24}\/terms)?$/u

const uriText = {
  maxLength: 2000,
  description:
    'Meaning of the field: a URI (http, https, urn, doi …) or a short name such as `dc:title`; derived from the label if empty or absent',
}

/** A definition as sent by a client. */
export const NewDefinition = s.model(
  'NewMetadataDefinition',
  s.Object({
    label: s.line(500),
    type: s.line(100),
    uri: optionalOrNull(s.String(uriText)),
    description: optionalOrNull(s.prose()),
    definitions_url: optionalOrNull(
      s.String({
        maxLength: 2000,
        description: 'URL of the list of terms: an http or https URL, or `/api/standardvocab/<id>/terms`',
      }),
    ),
    query_parameter: optionalOrNull(s.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })),
  }),
)
export type NewDefinition = s.Static<typeof NewDefinition>

/** A change to an existing definition: its URI is not derived again. */
export const ChangedDefinition = s.model(
  'MetadataDefinitionChange',
  s.Object({ ...NewDefinition.properties, uri: s.String({ ...uriText, minLength: 1 }) }),
)

/** Throws `Invalid` for invalid URLs, and for those that a page could not safely link to. */
export const requireAddresses = ({ uri, definitions_url: termsUrl }: NewDefinition): void => {
  if (!uriForm.test(uri ?? '')) throw new Invalid('uri must begin with http:, https:, urn: or doi:, or be a name such as dc:title')
  if (!addressForm.test(termsUrl ?? '')) {
    throw new Invalid('definitions_url must be an http or https URL, or /api/standardvocab/<id>/terms with the id of a vocabulary')
  }
}

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

/** Definitions in the given order. */
export async function* shown(definitions: AsyncIterable<DefinitionRecord & Stored>): AsyncIterable<DefinitionJson> {
  for await (const definition of definitions) yield toJson(definition)
}

/** Clowder's `{"status":"ok"}`. */
export const ok = () => s.Unsafe<{ readonly status: string }>(s.Object({ status: s.Literal('ok') }))
