import type { SearchScope } from '../ports/policy.ts'
import type { SearchDocument, SearchHits, SearchIndex, SearchQuery, SearchRequest } from '../ports/search-index.ts'

export const everything: SearchScope = { all: true }
export const day = 86_400_000
export const start = Date.parse('2026-01-01T00:00:00.000Z')

/** The id of the n-th document of a test. */
export const searchId = (n: number): string => n.toString(16).padStart(24, '0')

/** A document with no content but its number; each is created a day after the previous one. */
export const searchDocument = (n: number, over: Partial<SearchDocument> = {}): SearchDocument => ({
  id: searchId(n),
  kind: 'file',
  revision: 1,
  name: '',
  description: '',
  creator: searchId(900),
  creatorName: 'Ada Lovelace',
  creatorEmail: 'ada@example.org',
  created: new Date(start + n * day),
  tags: [],
  comments: [],
  metadata: [],
  childOf: [],
  spaces: [],
  isPublic: false,
  isListed: true,
  ...over,
})

export const put = (n: number, over: Partial<SearchDocument> = {}) => ({ put: searchDocument(n, over) })
export const word = (text: string): SearchQuery => ({ op: 'word', text })
export const field = (
  name: string,
  is: Extract<SearchQuery, { op: 'field' }>['is'],
  ...values: readonly (string | number | Date)[]
): SearchQuery => ({
  op: 'field',
  field: name,
  is,
  values,
})

export const request = (query: SearchQuery, over: Partial<SearchRequest> = {}): SearchRequest => ({
  query,
  scope: everything,
  from: 0,
  size: 1000,
  ...over,
})

export const numbers = ({ hits }: SearchHits): readonly number[] => hits.map(({ id }) => Number.parseInt(id, 16))

/** The numbers of the matching documents, in ascending order. */
export async function found(index: SearchIndex, query: SearchQuery, over: Partial<SearchRequest> = {}): Promise<readonly number[]> {
  const hits = await index.search(request(query, over))
  return [...numbers(hits)].sort((a, b) => a - b)
}

export async function* streamOf(documents: readonly SearchDocument[]): AsyncGenerator<SearchDocument> {
  for (const document of documents) yield document
}
