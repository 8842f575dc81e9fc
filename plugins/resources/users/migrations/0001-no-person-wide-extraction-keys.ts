import { CommitConflict, collection, type DocumentStore } from 'pounce/sdk'

/** The former records: the key for all jobs of a user contained what it was derived from. */
const keys = collection<{ user: string; name: string; generation?: string | null }>()('users.keys', {
  byUser: { on: ['user', 'name'], unique: true },
})

/** Deletes the keys that gave every extractor access to everything of a user. They are refused already, and need not be listed. */
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
