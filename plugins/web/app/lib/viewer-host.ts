import i18next from 'i18next'
import { toast } from '../components/toasts.tsx'
import type { MountedPart, ViewedThing, ViewerHost } from '../viewers/host.ts'
import { requestFailed } from '../viewers/lib/request-failed.ts'
import { ApiError, base, urlOf } from './api.ts'
import type { Contribution } from './contributions.ts'
import { currentLanguage, loadViewerTexts } from './i18n.ts'
import { messageOf } from './messages.ts'
import { onDemand, whenResponding } from './on-demand.ts'

/** What a part gets of the page. */
export interface HostParts {
  readonly contribution: Contribution
  readonly thing: ViewedThing
  /** URL of the bytes; empty where there are none. */
  readonly url: string
  readonly state: ViewerHost['state']
  readonly navigate: (path: string) => void
  readonly signal: AbortSignal
  /** Called at each sign of activity of the part, and whether it waits for the server. */
  readonly onActivity: (isWaiting: boolean) => void
}

const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''

/** A translated text of a part: for a built-in one from the interface's texts, for others from their contribution. */
export const textOf = ({ plugin, texts }: Contribution, key: string, values: Readonly<Record<string, unknown>> = {}): string => {
  if (plugin === 'web') return String(i18next.t(key as never, values as never))
  const text = Object.hasOwn(texts, key) ? (texts[key] ?? key) : key
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole))
}

/** An error with a message for the user, named so that viewers can distinguish it from a damaged file, also after it passed through a worker. */
const failedRequest = (error: ApiError): Error => Object.assign(new Error(messageOf(error)), { name: requestFailed })

const refusal = async (response: Response): Promise<Error> => {
  const problem = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  return failedRequest(new ApiError(response.status, problem))
}

/** What a request resolves to; without a complete response it is rejected with a message for the user. */
const received = async <T>(work: () => Promise<T>, signal: AbortSignal | null | undefined): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (signal?.aborted) throw error
    throw failedRequest(new ApiError(0, { code: 'unreachable' }))
  }
}

/** The body of a response; `onBytes` is called as it arrives. */
const bodyOf = async ({ body }: Response, onBytes: () => void): Promise<Uint8Array> => {
  const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onBytes()
      controller.enqueue(chunk)
    },
  })
  return new Uint8Array(await new Response(body?.pipeThrough(watch) ?? null).arrayBuffer())
}

interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Reads a range of some bytes. */
const readRange = async (url: string, { start, end }: ByteRange, signal: AbortSignal, onBytes: () => void): Promise<Uint8Array> => {
  const response = await received(() => fetch(url, { headers: { range: `bytes=${start}-${end - 1}` }, signal }), signal)
  if (!response.ok) throw await refusal(response)
  const bytes = await received(() => bodyOf(response, onBytes), signal)
  // Without support for ranges, everything is sent.
  return response.status === 206 ? bytes : bytes.subarray(start, end)
}

/** Runs requests, and reports when one of them begins, receives something or ends. */
const watchedRequests = (onActivity: HostParts['onActivity']) => {
  let running = 0
  return async <T>(request: (onBytes: () => void) => Promise<T>): Promise<T> => {
    running++
    onActivity(true)
    try {
      return await request(() => onActivity(true))
    } finally {
      running--
      onActivity(running > 0)
    }
  }
}

/** The host object that a part is mounted with. */
export const hostOf = ({ contribution, thing, url, state, navigate, signal, onActivity }: HostParts): ViewerHost => {
  const watched = watchedRequests(onActivity)
  return {
    version: 1,
    thing,
    url,
    async read(start, end) {
      const range = { start, end: Math.min(end, thing.sizeBytes) }
      if (range.start < range.end) return watched(onBytes => readRange(url, range, signal, onBytes))
      // A viewer whose worker reads by itself reports by an empty read that it is waiting for bytes.
      onActivity(true)
      return new Uint8Array()
    },
    api: (path, init = {}) =>
      watched(async () => {
        if (!path.startsWith('/api/')) throw new Error(`${path} is no address of the API`)
        const headers = {
          accept: 'application/json',
          ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...init.headers,
        }
        const ours = init.signal ?? signal
        const response = await received(() => fetch(urlOf(path), { ...init, headers, signal: ours } as RequestInit), ours)
        if (!response.ok) throw await refusal(response)
        const text = await received(() => response.text(), ours)
        return text === '' ? undefined : JSON.parse(text)
      }),
    language: currentLanguage(),
    t: (key, values) => textOf(contribution, key, values),
    toast: text => toast(text),
    navigate,
    state,
    nonce: nonce(),
    signal,
  }
}

/** Style sheets that are loading or loaded, by URL. */
const sheets = new Map<string, Promise<void>>()

const loadSheet = (path: string): Promise<void> => {
  const known = sheets.get(path)
  if (known) return known
  const loaded = new Promise<void>((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = base + path
    link.onload = () => resolve()
    link.onerror = () => {
      link.remove()
      sheets.delete(path)
      reject(new TypeError(`${path} cannot be loaded`))
    }
    document.head.append(link)
  })
  sheets.set(path, loaded)
  return loaded
}

/** In development, Vite serves the modules of built-in viewers. */
const developed = import.meta.env.DEV ? import.meta.glob<MountedPart>('../viewers/*/index.ts') : {}

/** The module of a contribution, with its style sheets. */
export const loadPart = async ({ id, plugin, module, styles }: Contribution): Promise<MountedPart> => {
  const isOwn = plugin === 'web'
  const own = isOwn ? developed[`../viewers/${id.slice('web.'.length)}/index.ts`] : undefined
  const load = own ?? (() => import(/* @vite-ignore */ base + module) as Promise<MountedPart>)
  const [part] = await Promise.all([
    isOwn ? onDemand(load) : whenResponding(load),
    isOwn && loadViewerTexts(),
    ...(own ? [] : styles.map(loadSheet)),
  ])
  if (typeof part.mount !== 'function') throw new TypeError(`${module} exports no function mount`)
  return part
}
