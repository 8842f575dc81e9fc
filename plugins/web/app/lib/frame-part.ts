import type { MountedPart, ViewerHost } from '../viewers/host.ts'
import { base } from './api.ts'
import type { Contribution } from './contributions.ts'
import type { FrameStart, FromFrame, ToFrame } from './frame-messages.ts'
import { t } from './i18n.ts'

/** A frame that does not respond for this long has failed; one that is still loading, over a slow connection or on a busy machine, has longer. */
const [silenceMs, loadMs] = [10_000, 60_000]
const pingEveryMs = 4000
/** Maximum size of one read, so that a frame cannot fill the memory of the page by one call. */
const maxReadBytes = 256_000_000
const maxReads = 16
const heights = { least: 80, most: 4000 }
const toastEveryMs = 1000
const maxText = 500

const textIn = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxText) : '')

/**
 * A part in a frame without origin and network. What the frame sends is not trusted: it can read the bytes that it was mounted for, announce a text, write
 * its own state, and, while the user interacts with it, navigate to another page of the interface. `onFailure` is called when it fails after mounting.
 */
export const framePart = (contribution: Contribution, onFailure: (message: string) => void): MountedPart => ({
  mount: (element: HTMLElement, host: ViewerHost) =>
    new Promise((resolve, reject) => {
      const frame = document.createElement('iframe')
      frame.className = 'part-frame'
      frame.title = contribution.title
      frame.setAttribute('sandbox', 'allow-scripts')
      frame.allow = ''
      frame.referrerPolicy = 'no-referrer'
      const { port1: port, port2 } = new MessageChannel()
      let isStarted = false
      let isMounted = false
      let lastSign = Date.now()
      const end = (): void => {
        clearInterval(timer)
        port.close()
        frame.remove()
      }
      const fail = (message: string): void => {
        end()
        if (isMounted) onFailure(message)
        else reject(new Error(message))
      }
      const timer = setInterval(() => {
        // Browsers throttle frames of a hidden page.
        if (document.hidden) lastSign = Date.now()
        else if (Date.now() - lastSign > (isStarted ? silenceMs : loadMs)) fail(t('part.silent'))
        else port.postMessage({ is: 'ping' } satisfies ToFrame)
      }, pingEveryMs)
      const answer = frameCalls(host, message => port.postMessage(message))
      port.onmessage = ({ data }: MessageEvent<FromFrame>) => {
        lastSign = Date.now()
        switch (data?.is) {
          case 'mounted':
            isMounted = true
            resolve(end)
            break
          case 'failed':
            fail(textIn(data.message) || t('part.broken'))
            break
          case 'nothing':
            fail(t('part.nothing'))
            break
          case 'size':
            if (Number.isFinite(data.height))
              frame.style.blockSize = `${Math.min(heights.most, Math.max(heights.least, Math.ceil(data.height)))}px`
            break
          default:
            answer(data)
        }
      }
      frame.addEventListener('load', () => {
        // A frame that loads a second page has left its own.
        if (isStarted) fail(t('part.broken'))
        else frame.contentWindow?.postMessage(startOf(contribution, host), '*', [port2])
        isStarted = true
        lastSign = Date.now()
      })
      frame.src = `${base}/web/frame`
      element.append(frame)
    }),
})

const startOf = ({ module, styles, texts }: Contribution, { thing, language, state }: ViewerHost): FrameStart => ({
  module: base + module,
  styles: styles.map(path => base + path),
  thing,
  language,
  theme: document.documentElement.dataset['theme'],
  texts,
  state: state.get(),
})

/** Responds to requests of a frame. */
const frameCalls = (host: ViewerHost, send: (message: ToFrame) => void): ((message: FromFrame) => void) => {
  let reads = 0
  let toastedAt = 0
  const read = async (id: number, start: number, end: number): Promise<void> => {
    if (reads >= maxReads || !(start >= 0 && end - start <= maxReadBytes)) {
      send({ is: 'refused', id, message: t('part.tooMuch') })
      return
    }
    reads++
    try {
      send({ is: 'bytes', id, bytes: await host.read(start, end) })
    } catch (error) {
      send({ is: 'refused', id, message: error instanceof Error ? error.message : t('part.broken') })
    } finally {
      reads--
    }
  }
  return message => {
    if (message?.is === 'read' && Number.isSafeInteger(message.start) && Number.isSafeInteger(message.end))
      void read(Number(message.id), message.start, message.end)
    else if (message?.is === 'state') host.state.set(textIn(message.value) || undefined)
    else if (message?.is === 'toast' && Date.now() - toastedAt > toastEveryMs) {
      toastedAt = Date.now()
      host.toast(textIn(message.text))
    } else if (message?.is === 'navigate' && navigator.userActivation?.isActive && /^\/(?![/\\])/.test(textIn(message.path)))
      host.navigate(textIn(message.path))
  }
}
