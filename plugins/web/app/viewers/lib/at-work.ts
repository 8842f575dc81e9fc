import type { ViewerHost } from '../host.ts'

/** Reports to the page that a viewer whose worker reads by itself is active: an empty read, which sends no request. */
export const atWork = (host: ViewerHost): void => void host.read(0, 0).catch(() => undefined)
