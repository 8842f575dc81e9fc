import './picture.css'
import type { ViewerHost } from '../host.ts'
import { shownOrBroken } from '../loaded.ts'
import { drawAreas } from './areas.ts'

/** Pictures that browsers show by themselves, with the sections of theirs that have an area. */
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
  // The picture is seen first.
  if (host.thing.kind === 'file') void drawAreas(figure, frame, picture, host)
  return () => {
    // What is on its way is not needed any more.
    picture.removeAttribute('src')
    figure.remove()
  }
}
