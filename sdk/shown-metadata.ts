import type { MetadataRecord } from './model/records.ts'
import type { Json, Stored } from './ports/document-store.ts'
import * as s from './schema.ts'

/** A metadata document as returned to clients (reference, api-data §7). `@context` is absent if none was sent. */
export interface ShownMetadata {
  readonly '@context'?: string | Record<string, Json>
  readonly id: string
  readonly attached_to: { readonly resource_type: string; readonly url: string }
  readonly created_at: string
  readonly agent: {
    readonly '@type': string
    readonly name: string
    readonly extractor_id?: string
    readonly user_id?: string
    readonly attributed_to?: string
  }
  readonly content: Json
}

const userUrl = (user: string, baseUrl: string): string => (s.isId(user) ? `${baseUrl}/api/users/${user}` : user)

/** Converts a stored document for clients; URLs of resources and accounts are built from the installation's base URL. */
export const shownMetadata = (
  { id, target, agent, context, created, content }: MetadataRecord & Stored,
  baseUrl: string,
): ShownMetadata => ({
  ...(context === undefined ? {} : { '@context': context as string | Record<string, Json> }),
  id,
  attached_to: { resource_type: `cat:${target.kind}`, url: `${baseUrl}/${target.kind}s/${target.id}` },
  created_at: s.toV1Date(created),
  agent: {
    '@type': agent.kind === 'extractor' ? 'cat:extractor' : 'cat:user',
    name: agent.name,
    ...(agent.extractorId === null ? {} : { extractor_id: agent.extractorId }),
    ...(agent.userId === null ? {} : { user_id: userUrl(agent.userId, baseUrl) }),
    ...(agent.attributedTo === undefined ? {} : { attributed_to: agent.attributedTo }),
  },
  content,
})
