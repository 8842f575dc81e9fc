/** "2 of 5 pages done" is no end where pyclowder says that it is progress. */
const isProgress = /^StatusMessage\.(?:start|processing|retry|skip)\b/

/** Whether a status message ends its run with success: "done" anywhere, as in v1, but for progress (reference, extraction §3.2). */
export const saysDone = (status: string): boolean => status.toUpperCase().includes('DONE') && !isProgress.test(status)
