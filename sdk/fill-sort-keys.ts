import { naturalKey } from './natural-key.ts'
import { type Change, type Collection, type DocumentStore, eq } from './ports/document-store.ts'

interface Named {
  readonly name: string
  readonly nameKey?: string
  readonly created: string
  readonly modified?: string
}

const batchSize = 500

/** For migrations: adds the fields that sorted lists need to the records of a collection. Records changed concurrently get them through that change. */
export const fillSortKeys = async (documents: DocumentStore, from: Collection<Named>): Promise<void> => {
  let changes: { readonly change: Change<Named> }[] = []
  const write = async (): Promise<void> => {
    if (changes.length > 0) await documents.commitEach(changes)
    changes = []
  }
  for await (const { id, revision, name, nameKey, created, modified } of documents.walk(from)) {
    const key = naturalKey(name)
    if (nameKey === key && modified !== undefined) continue
    changes.push({
      change: { update: id, in: from, where: eq('revision', revision), set: { nameKey: key, modified: modified ?? created } },
    })
    if (changes.length === batchSize) await write()
  }
  await write()
}
