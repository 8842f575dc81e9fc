import './picture.css'
import type { ViewerHost } from '../host.ts'
import { shownOrBroken } from '../loaded.ts'

/** Pictures that browsers show by themselves. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const figure = document.createElement('figure')
  figure.className = 'sheet viewer-picture'
  const picture = document.createElement('img')
  picture.alt = host.thing.name
  picture.decoding = 'async'
  const shown = shownOrBroken(picture, 'load', host, 'viewer.picture.broken')
  picture.src = host.url
  figure.append(picture)
  element.append(figure)
  await shown
  return () => {
    // What is on its way is not needed any more.
    picture.removeAttribute('src')
    figure.remove()
  }
}
