import type { DocumentStore } from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'

/** From the top of its dataset down to each folder, itself included; none for one that something above is gone of, or that is above itself. */
export const chainsTo = async (documents: DocumentStore, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Folder[]>> => {
  const known = new Map<string, Folder>()
  let missing = [...new Set(ids)]
  while (missing.length > 0) {
    const above = new Set<string>(missing.slice(1000))
    for (const folder of (await documents.getMany(folders, missing.slice(0, 1000))).values()) {
      known.set(folder.id, folder)
      if (folder.parent.kind === 'folder') above.add(folder.parent.id)
    }
    missing = [...above].filter(id => !known.has(id))
  }
  return new Map(
    ids.flatMap(id => {
      const chain = chainTo(id, known)
      return chain ? [[id, chain]] : []
    }),
  )
}

const chainTo = (id: string, known: ReadonlyMap<string, Folder>): readonly Folder[] | undefined => {
  const chain: Folder[] = []
  for (let folder = known.get(id); folder !== undefined && chain.length <= known.size; folder = known.get(folder.parent.id)) {
    chain.push(folder)
    if (folder.parent.kind === 'dataset') return chain.reverse()
  }
  return undefined
}
