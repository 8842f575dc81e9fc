import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { isBinary } from '../lib/encoding.ts'
import { drawn } from '../lib/react-part.tsx'
import { TextSource } from './text-source.ts'
import { TextView } from './text-view.tsx'

/** Text and code: the first part at once, more on request. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  if (isBinary(await host.read(0, 4096))) throw new Error(host.t('viewer.text.binary'))
  const source = new TextSource(host)
  return drawn(element, host.language, createElement(TextView, { host, source, first: await source.more() }))
}
