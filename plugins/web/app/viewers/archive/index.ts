import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { drawn } from '../lib/react-part.tsx'
import { archiveOf, TooManyFiles } from './archive-data.ts'
import { ArchiveView } from './archive-view.tsx'

/** ZIP archives: only their list is read, and of each file what is looked at. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const archive = await archiveOf(host).catch((cause: unknown) => {
    throw new Error(host.t(cause instanceof TooManyFiles ? 'viewer.archive.tooMany' : 'viewer.archive.damaged'), { cause })
  })
  return drawn(element, host.language, createElement(ArchiveView, { host, archive }))
}
