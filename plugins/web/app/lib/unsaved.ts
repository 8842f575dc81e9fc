type Ask = () => Promise<boolean>

const asks = new Set<Ask>()

/** Registers an unsaved text: `ask` shows whether the user would discard it. Returns a function to end this. */
export const onDiscard = (ask: Ask): (() => void) => {
  asks.add(ask)
  return () => asks.delete(ask)
}

const signOutAsks = new Set<Ask>()

/** Registers what signing out would interrupt, in the same way. */
export const onSignOut = (ask: Ask): (() => void) => {
  signOutAsks.add(ask)
  return () => signOutAsks.delete(ask)
}

/** Asks about each unsaved text, as before its page is left; false if the user keeps one. For actions after which it could not be saved. */
export const mayDiscard = async (): Promise<boolean> => {
  for (const ask of asks) if (!(await ask())) return false
  return true
}

/** `mayDiscard`, and asks about what signing out interrupts. */
export const maySignOut = async (): Promise<boolean> => {
  if (!(await mayDiscard())) return false
  for (const ask of signOutAsks) if (!(await ask())) return false
  return true
}
