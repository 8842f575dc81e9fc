import { and, Conflict, type DocumentStore, eq, startsWith, Taken } from 'pounce/sdk'
import { folders } from './collection.ts'

const tries = 50

/** Tries display names below a parent until the store takes one: the name, else `name (1)`, `name (2)` … whichever is free. */
export const withDisplayName = async <T>(
  documents: DocumentStore,
  parent: string,
  name: string,
  commit: (displayName: string) => Promise<T>,
): Promise<T> => {
  for (let round = 0; round < tries; round++) {
    try {
      return await commit(await freeName(documents, parent, name, round))
    } catch (error) {
      if (!(error instanceof Taken)) throw error
    }
  }
  throw new Conflict('Too many folders of this name are created concurrently; try again')
}

const freeName = async (documents: DocumentStore, parent: string, name: string, round: number): Promise<string> => {
  const where = (condition: ReturnType<typeof eq>) => and(eq('parent.id', parent), condition)
  const same = await documents.find(folders, { using: 'byParent', where: where(eq('displayName', name)), limit: 1 })
  if (same.items.length === 0) return name
  const numbered = await documents.find(folders, {
    using: 'byParent',
    where: where(startsWith('displayName', `${name} (`)),
    sort: { by: 'displayName', order: 'ascending' },
    limit: 1000,
  })
  const taken = new Set(numbered.items.map(folder => folder.displayName))
  let number = 1
  // A full page hides further numbers, so each round begins behind those it cannot know.
  if (numbered.next) number = 1000 * 2 ** Math.min(round, 20)
  while (taken.has(`${name} (${number})`)) number++
  return `${name} (${number})`
}
