import type { ViewerHost } from '../host.ts'

/** Tells the page that a viewer whose worker reads by itself is at work: an empty read, which asks the server nothing. */
export const atWork = (host: ViewerHost): void => void host.read(0, 0).catch(() => undefined)
