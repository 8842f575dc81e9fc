import './picture.css'
import { make } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { shownOrBroken } from '../loaded.ts'
import { drawAreas } from './areas.ts'

/** Larger pictures are not decoded again to detect truncation. */
const maxDecodedBytes = 20_000_000

const lastBytes: Readonly<Record<string, string>> = { 'image/png': 'IEND\u00aeB`\u0082', 'image/jpeg': '\u00ff\u00d9' }

/** Whether a picture is truncated, which browsers do not report. A file without the expected last bytes is decoded, since data may follow the picture. */
const isCutOff = async ({ thing: { contentType, sizeBytes }, read, signal }: ViewerHost): Promise<boolean> => {
  const end = lastBytes[contentType]
  if (end === undefined || sizeBytes > maxDecodedBytes) return false
  const tail = String.fromCharCode(...(await read(Math.max(0, sizeBytes - end.length), sizeBytes)))
  if (tail === end || signal.aborted) return false
  const picture = new Blob([(await read(0, sizeBytes)) as Uint8Array<ArrayBuffer>], { type: contentType })
  return createImageBitmap(picture).then(
    bitmap => {
      bitmap.close()
      return false
    },
    () => !signal.aborted,
  )
}

/** Pictures supported by browsers, with the areas of their sections. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const figure = document.createElement('figure')
  figure.className = 'sheet viewer-picture'
  const frame = document.createElement('div')
  frame.className = 'picture-frame'
  const picture = document.createElement('img')
  picture.alt = host.thing.name
  picture.decoding = 'async'
  const shown = shownOrBroken(picture, 'load', host, 'viewer.picture.broken')
  picture.src = host.url
  frame.append(picture)
  figure.append(frame)
  element.append(figure)
  await shown
  // The check runs after the picture is shown.
  const sayCut = (isCut: boolean): void => {
    if (isCut) figure.append(make('p', { className: 'viewer-warning', attributes: { role: 'alert' } }, host.t('viewer.picture.cutOff')))
  }
  void isCutOff(host).then(sayCut, () => undefined)
  if (host.thing.kind === 'file') void drawAreas(figure, frame, picture, host)
  return () => {
    // Cancels a running download.
    picture.removeAttribute('src')
    figure.remove()
  }
}
