/** Yields, so that pending messages are processed. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setTimeout(resolve))
