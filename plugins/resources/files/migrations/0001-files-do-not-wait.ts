import { CommitConflict, collection, type DocumentStore, eq } from 'pounce/sdk'

/** As records were before: a file with jobs of its upload was CREATED until they had ended. */
const files = collection<{ readonly status: string; readonly pendingJobs?: readonly string[] }>()('files')

/** Files whose jobs are submitted are PROCESSED: nothing else makes them so any more. */
export const up = async (documents: DocumentStore): Promise<void> => {
  for await (const { id, status, pendingJobs = [] } of documents.walk(files)) {
    if (status !== 'CREATED' || pendingJobs.length === 0) continue
    try {
      await documents.commit({ update: id, in: files, where: eq('status', 'CREATED'), set: { status: 'PROCESSED' } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
}
