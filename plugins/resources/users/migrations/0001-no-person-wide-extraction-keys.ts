import { CommitConflict, collection, type DocumentStore } from 'pounce/sdk'

/** As records were before: the key of all jobs of a person had what it was derived from. */
const keys = collection<{ user: string; name: string; generation?: string | null }>()('users.keys', {
  byUser: { on: ['user', 'name'], unique: true },
})

/** Removes the keys that opened everything of a person to every extractor. They are refused already; no one needs to see them in a list. */
export const up = async (documents: DocumentStore): Promise<void> => {
  for await (const { id, generation } of documents.scan(keys, { using: 'byUser' })) {
    if (generation == null) continue
    try {
      await documents.commit({ tombstone: id, in: keys })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
  }
}
