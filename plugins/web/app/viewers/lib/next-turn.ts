/** Lets messages that came in meanwhile be answered. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setTimeout(resolve))
