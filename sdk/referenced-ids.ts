import { type Collection, type DocumentStore, isIn, type Stored } from './ports/document-store.ts'

/**
 * Which of some ids (at most 1,000) are referenced by documents, using an index that begins with the field. For consumers of many events: most deleted
 * resources have no dependents, and one read finds that out. Documents are read whole, a thousand at a time, so do not use it for large ones.
 */
export const referencedIds = async <T extends object>(
  documents: DocumentStore,
  from: Collection<T>,
  { using, field, of }: { readonly using: string; readonly field: string; readonly of: (document: T & Stored) => string | null },
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const named = new Set<string>()
  let left = [...new Set(ids)]
  while (left.length > 0) {
    const { items, next } = await documents.find(from, { using, where: isIn(field, left), limit: 1000 })
    for (const document of items) named.add(of(document) ?? '')
    if (!next) break
    // An id with many references fills the page: query again without it.
    left = left.filter(id => !named.has(id))
  }
  return named
}
