import { CommitConflict, collection, type DocumentStore, eq } from 'pounce/sdk'

/** The former records: a file was CREATED until the jobs of its upload had ended. */
const files = collection<{ readonly status: string; readonly pendingJobs?: readonly string[] }>()('files')

/** Marks files whose jobs are submitted as PROCESSED: nothing else would do so any more. */
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
