import { createElement } from 'react'
import type { ViewedThing, ViewerHost } from '../host.ts'
import { isBinary } from '../lib/encoding.ts'
import { drawn } from '../lib/react-part.tsx'
import { TextSource } from './text-source.ts'
import { TextView } from './text-view.tsx'

export type StructureKind = 'json' | 'jsonLines' | 'xml'

/** The structure of a text, by its media type or extension. */
const structureOf = ({ name, contentType }: ViewedThing): StructureKind | undefined => {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const ending = name.toLowerCase().split('.').at(-1) ?? ''
  if (type === 'application/x-ndjson' || ['jsonl', 'ndjson'].includes(ending)) return 'jsonLines'
  if (type === 'application/json' || type.endsWith('+json') || ['json', 'geojson', 'jsonld', 'topojson'].includes(ending)) return 'json'
  return type === 'application/xml' ||
    type === 'text/xml' ||
    type.endsWith('+xml') ||
    ['xml', 'xsd', 'xsl', 'kml', 'gpx', 'rdf'].includes(ending)
    ? 'xml'
    : undefined
}

/** Text and code. The first part is loaded at once, more on request. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  if (host.thing.sizeBytes === 0) throw new Error(host.t('viewer.emptyFile'))
  if (isBinary(await host.read(0, 4096))) throw new Error(host.t('viewer.text.binary'))
  const source = new TextSource(host)
  const kind = structureOf(host.thing)
  // The parsers are loaded only for structured files.
  const [first, structures] = await Promise.all([source.more(), kind && import('./structure.ts')])
  const structured = kind && structures && ((text: string) => structures.structured(kind, text))
  return drawn(element, host.language, createElement(TextView, { host, source, first, structured }))
}
