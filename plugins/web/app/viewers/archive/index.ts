import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { drawn } from '../lib/react-part.tsx'
import { ArchiveClient } from './archive-client.ts'
import { ArchiveView } from './archive-view.tsx'

/** ZIP archives: only the central directory and the opened files are read. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const client = new ArchiveClient(host)
  try {
    const totals = await client.open()
    const remove = drawn(element, host.language, createElement(ArchiveView, { host, client, totals }))
    return () => {
      client.close()
      remove()
    }
  } catch (cause) {
    client.close()
    const isLarge = cause instanceof Error && cause.name === 'TooManyFiles'
    throw new Error(host.t(isLarge ? 'viewer.archive.tooMany' : 'viewer.archive.damaged'), { cause })
  }
}
