import { Invalid, type MetadataRecord, s } from 'pounce/sdk'
import { msOfTime, optionalOrNull } from 'pounce/sdk/kit'

/** A context: a URL, an object, or a list of both. It is stored and never fetched. */
export const JsonLdContext = s.Union([s.String(), s.Record(s.String(), s.Unknown()), s.Array(s.Unknown(), { maxItems: 100 })])

/** The content of a document, stored verbatim. */
export const Content = s.Union([s.Record(s.String(), s.Unknown()), s.Array(s.Unknown())], {
  description: 'An object or an array, stored verbatim',
})

/** A document sent by a client (reference, api-data §7). Other members are ignored: the target is in the path. */
export const PostedDocument = s.model(
  'NewMetadata',
  s.Object({
    '@context': optionalOrNull(JsonLdContext),
    agent: s.Object({
      '@type': s.String({ minLength: 1, maxLength: 200 }),
      name: optionalOrNull(s.String({ maxLength: 500 })),
      extractor_id: optionalOrNull(s.String({ maxLength: 2000 })),
      user_id: optionalOrNull(s.String({ maxLength: 2000 })),
    }),
    content: Content,
    created_at: s.Optional(s.Unknown()),
  }),
)
export type PostedDocument = s.Static<typeof PostedDocument>

/** A document as returned. `@context` is absent when none was sent. */
export const ShownDocument = s.model(
  'Metadata',
  s.Object({
    '@context': s.Optional(JsonLdContext),
    id: s.String(),
    attached_to: s.Object({ resource_type: s.String(), url: s.String() }),
    created_at: s.v1Date(),
    agent: s.Object({
      '@type': s.String(),
      name: s.String(),
      extractor_id: s.Optional(s.String()),
      user_id: s.Optional(s.String()),
      attributed_to: s.Optional(s.String({ description: 'Author named by the imported bag, not verified' })),
    }),
    content: s.Unknown(),
  }),
)

const exampleUrls = {
  extractor_id: 'https://example.org/extractors/name/1.0',
  user_id: 'https://orcid.org/0000-0002-1825-0097',
} as const

const url = (text: string, member: keyof typeof exampleUrls): string => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new Invalid(`agent.${member} must be an absolute http or https URL, such as ${exampleUrls[member]}`)
  }
  return text
}

/** Creator of the document, accepted as sent, as in Clowder 1.x; the account that sent it is stored with it. */
export const agentOf = ({ agent }: PostedDocument): MetadataRecord['agent'] => {
  if (agent.extractor_id) {
    const extractorId = url(agent.extractor_id, 'extractor_id')
    return { kind: 'extractor', name: agent.name ?? extractorId, extractorId, userId: null }
  }
  if (agent.user_id) {
    const userId = url(agent.user_id, 'user_id')
    return { kind: 'user', name: agent.name ?? 'Unknown', extractorId: null, userId }
  }
  throw new Invalid('Creator data is missing or incorrect: agent needs extractor_id or user_id, an absolute URL')
}

/** `created_at` if it is a date (a space may replace the T); otherwise treated as absent, as in v1. */
export const createdOf = ({ created_at: given }: PostedDocument): string | undefined => {
  const ms = typeof given === 'string' ? msOfTime(given) : undefined
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
