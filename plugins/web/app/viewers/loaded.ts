import type { ViewerHost } from './host.ts'

/** After this time a part is considered mounted; later failures are reported in its place. */
const waitMs = 5000

/** Resolves when an image, audio or video is loaded, or takes long; rejects with a message if the browser cannot show it. Call it before setting `src`. */
export const shownOrBroken = (media: HTMLElement, loaded: string, host: ViewerHost, brokenText: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs)
    host.signal.addEventListener('abort', () => clearTimeout(timer))
    media.addEventListener(loaded, () => {
      clearTimeout(timer)
      resolve()
    })
    media.addEventListener('error', () => {
      clearTimeout(timer)
      if (host.signal.aborted) return
      reject(new Error(host.t(brokenText)))
      const text = document.createElement('p')
      text.className = 'help'
      text.setAttribute('role', 'alert')
      text.textContent = host.t(brokenText)
      media.replaceWith(text)
    })
  })
