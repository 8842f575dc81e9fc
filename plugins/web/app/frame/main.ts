import './frame.css'
import type { FrameStart, FromFrame, ToFrame } from '../lib/frame-messages.ts'
import type { MountedPart, ViewerHost } from '../viewers/host.ts'

/*
 * Runs in the sandboxed frame of one part: it has no origin, no network and no API. It gets only the bytes that the page reads for it.
 */

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void
  readonly reject: (error: Error) => void
}

const hostOf = (start: FrameStart, port: MessagePort, waiting: Map<number, Waiting>): ViewerHost => {
  const send = (message: FromFrame): void => port.postMessage(message)
  let { state } = start
  return {
    version: 1,
    thing: start.thing,
    url: '',
    read: (from, to) =>
      new Promise((resolve, reject) => {
        const id = nextId()
        waiting.set(id, { resolve, reject })
        send({ is: 'read', id, start: from, end: to })
      }),
    api: () => Promise.reject(new Error('A part in a frame cannot call the API')),
    language: start.language,
    t: (key, values = {}) =>
      (start.texts[key] ?? key).replace(/\{\{(\w+)\}\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole)),
    toast: text => send({ is: 'toast', text }),
    navigate: path => send({ is: 'navigate', path }),
    state: {
      get: () => state,
      set: value => {
        state = value
        send({ is: 'state', value })
      },
    },
    nonce: '',
    // The frame ends with the part.
    signal: new AbortController().signal,
  }
}

let lastId = 0
const nextId = (): number => {
  lastId++
  return lastId
}

const loadSheet = (path: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    // Without an origin, style sheets are cross-origin too.
    link.crossOrigin = 'anonymous'
    link.onload = resolve
    link.onerror = () => reject(new TypeError(`${path} cannot be loaded`))
    link.href = path
    document.head.append(link)
  })

const run = async (start: FrameStart, port: MessagePort): Promise<void> => {
  const waiting = new Map<number, Waiting>()
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.is === 'ping') {
      port.postMessage({ is: 'pong' } satisfies FromFrame)
      return
    }
    const request = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.is === 'bytes') request?.resolve(data.bytes)
    else request?.reject(new Error(data.message))
  }
  document.documentElement.lang = start.language
  if (start.theme !== undefined) document.documentElement.dataset['theme'] = start.theme
  const [part] = await Promise.all([import(/* @vite-ignore */ start.module) as Promise<MountedPart>, ...start.styles.map(loadSheet)])
  const host = hostOf(start, port, waiting)
  const element = document.createElement('div')
  document.body.append(element)
  new ResizeObserver(() => port.postMessage({ is: 'size', height: element.scrollHeight } satisfies FromFrame)).observe(element)
  if (part.canShow && !(await part.canShow(start.thing, host))) {
    port.postMessage({ is: 'nothing' } satisfies FromFrame)
    return
  }
  const removal: unknown = await part.mount(element, host)
  if (typeof removal !== 'function') throw new TypeError('mount returned no function')
  port.postMessage({ is: 'mounted' } satisfies FromFrame)
}

const begin = ({ source, data, ports }: MessageEvent<FrameStart>): void => {
  const [port] = ports
  if (source !== window.parent || !port) return
  window.removeEventListener('message', begin)
  run(data, port).catch((error: unknown) => {
    // An `Error` is a message for the user; anything else is a bug in the part.
    const message = error instanceof Error && error.name === 'Error' ? error.message : undefined
    if (message === undefined) reportError(error)
    port.postMessage({ is: 'failed', message } satisfies FromFrame)
  })
}
window.addEventListener('message', begin)
