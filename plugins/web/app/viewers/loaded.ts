import type { ViewerHost } from './host.ts'
import { unreadBecause } from './lib/request-failed.ts'

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
    media.addEventListener('error', async () => {
      clearTimeout(timer)
      if (host.signal.aborted) return
      const reason = await unreadBecause(host, host.t(brokenText))
      if (host.signal.aborted) return
      reject(reason)
      const text = document.createElement('p')
      text.className = 'help'
      text.setAttribute('role', 'alert')
      text.textContent = reason.message
      media.replaceWith(text)
    })
  })
