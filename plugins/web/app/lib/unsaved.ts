type Ask = () => Promise<boolean>

const asks = new Set<Ask>()

/** Registers an unsaved text: `ask` shows whether the user would discard it. Returns a function to end this. */
export const onDiscard = (ask: Ask): (() => void) => {
  asks.add(ask)
  return () => asks.delete(ask)
}

/** Asks about each unsaved text, as before its page is left; false if the user keeps one. For actions after which it could not be saved. */
export const mayDiscard = async (): Promise<boolean> => {
  for (const ask of asks) if (!(await ask())) return false
  return true
}
