/* The interface between viewers and the page. Types only: a viewer imports nothing else that external plugins could not import as well. */
export type { MountedPart, PartSubject as ViewedThing, ViewerHost } from '../../../../sdk/web.ts'
