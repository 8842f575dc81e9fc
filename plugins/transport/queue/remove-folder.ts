import { rm } from 'node:fs/promises'
import type { Log } from 'pounce/sdk'

/** Deletes a folder of temporary files. A failure is logged, and retried at the next start. */
export async function removeFolder(path: string, log: Log): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    log.warn('Failed to delete a temporary folder', { path, error })
  }
}
