import type { ViewerHost } from './host.ts'

/** For so long a part waits before it counts as mounted; what fails later says so in its place. */
const waitMs = 5000

/** Resolves when a picture, sound or film is there, or takes long; rejects with a text where the browser cannot show it. Listen before `src` is set. */
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
