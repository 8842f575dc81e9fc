import './media.css'
import type { ViewerHost } from '../host.ts'
import { shownOrBroken } from '../loaded.ts'

/** Sound and film, played by the browser, which reads them in parts. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const isSound = host.thing.contentType.startsWith('audio/')
  const player = document.createElement(isSound ? 'audio' : 'video')
  player.controls = true
  player.preload = 'metadata'
  player.setAttribute('aria-label', host.thing.name)
  const shown = shownOrBroken(player, 'loadedmetadata', host, 'viewer.media.broken')
  player.src = host.url
  const figure = document.createElement('figure')
  figure.className = `sheet viewer-media ${isSound ? 'sound' : 'film'}`
  figure.append(player)
  element.append(figure)
  await shown
  return () => {
    player.pause()
    // Ends the download.
    player.removeAttribute('src')
    player.load()
    figure.remove()
  }
}
