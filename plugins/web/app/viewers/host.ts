/* What viewers and the page know of each other. Types only: a viewer imports nothing else that plugins elsewhere could not import too. */
export type { MountedPart, PartSubject as ViewedThing, ViewerHost } from '../../../../sdk/web.ts'
