/** "2 of 5 pages done" does not end a run when pyclowder marks it as progress. */
const isProgress = /^StatusMessage\.(?:start|processing|retry|skip)\b/

/** Whether a status message ends its run successfully: it contains "done", as in v1, and is not a progress message (reference, extraction §3.2). */
export const isSuccessStatus = (status: string): boolean => status.toUpperCase().includes('DONE') && !isProgress.test(status)
