import type { TestFetch } from 'pounce/sdk/testing'
import { ok } from './scene.ts'

/** A metadata document as returned by the API. */
export interface ReadDocument {
  readonly '@context'?: unknown
  readonly id: string
  readonly attached_to: { readonly resource_type: string; readonly url: string }
  readonly created_at: string
  readonly agent: { readonly '@type': string; readonly name: string; readonly extractor_id?: string; readonly user_id?: string }
  readonly content: unknown
}

export const byExtractor = (name = 'acme.count', version = '1.0') => ({
  '@type': 'cat:extractor',
  name,
  version,
  extractor_id: `https://example.org/extractors/${name}/${version}`,
})

export const byUser = (id: string, name = 'somebody') => ({
  '@type': 'cat:user',
  name,
  user_id: `https://example.org/api/users/${id}`,
})

/** All metadata documents of a resource, such as `/api/files/5f…`. */
export const documentsOf = (call: TestFetch, path: string, query = ''): Promise<readonly ReadDocument[]> =>
  ok<readonly ReadDocument[]>(call(`${path}/metadata.jsonld${query}`))
