import i18next from 'i18next'
import { toast } from '../components/toasts.tsx'
import type { MountedPart, ViewedThing, ViewerHost } from '../viewers/host.ts'
import { ApiError, base, urlOf } from './api.ts'
import type { Contribution } from './contributions.ts'
import { currentLanguage, loadViewerTexts } from './i18n.ts'
import { messageOf } from './messages.ts'

/** What a part gets of the page. */
export interface HostParts {
  readonly contribution: Contribution
  readonly thing: ViewedThing
  /** URL of the bytes; empty where there are none. */
  readonly url: string
  readonly state: ViewerHost['state']
  readonly navigate: (path: string) => void
  readonly signal: AbortSignal
  /** Called at each sign of activity of the part. */
  readonly onActivity: () => void
}

const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''

/** A translated text of a part: for a built-in one from the interface's texts, for others from their contribution. */
export const textOf = ({ plugin, texts }: Contribution, key: string, values: Readonly<Record<string, unknown>> = {}): string => {
  if (plugin === 'web') return String(i18next.t(key as never, values as never))
  const text = Object.hasOwn(texts, key) ? (texts[key] ?? key) : key
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole))
}

const refusal = async (response: Response): Promise<Error> => {
  const problem = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  return new Error(messageOf(new ApiError(response.status, problem)))
}

/** Sends a request; without a response it is rejected with a message for the user. */
const request = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Error(messageOf(new ApiError(0, { code: 'unreachable' })))
  }
}

/** Reads a range of some bytes, clamped to their length. */
export const readBytes = async (url: string, sizeBytes: number, start: number, end: number, signal: AbortSignal): Promise<Uint8Array> => {
  const last = Math.min(end, sizeBytes)
  if (start >= last) return new Uint8Array()
  const response = await request(url, { headers: { range: `bytes=${start}-${last - 1}` }, signal })
  if (!response.ok) throw await refusal(response)
  const bytes = new Uint8Array(await response.arrayBuffer())
  // Without support for ranges, everything is sent.
  return response.status === 206 ? bytes : bytes.subarray(start, last)
}

/** The host object that a part is mounted with. */
export const hostOf = ({ contribution, thing, url, state, navigate, signal, onActivity }: HostParts): ViewerHost => ({
  version: 1,
  thing,
  url,
  async read(start, end) {
    onActivity()
    try {
      return await readBytes(url, thing.sizeBytes, start, end, signal)
    } finally {
      onActivity()
    }
  },
  async api(path, init = {}) {
    onActivity()
    if (!path.startsWith('/api/')) throw new Error(`${path} is no address of the API`)
    const response = await request(urlOf(path), {
      ...init,
      headers: { accept: 'application/json', ...(init.body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
      signal: init.signal ?? signal,
    } as RequestInit)
    onActivity()
    if (!response.ok) throw await refusal(response)
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  },
  language: currentLanguage(),
  t: (key, values) => textOf(contribution, key, values),
  toast: text => toast(text),
  navigate,
  state,
  nonce: nonce(),
  signal,
})

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
  const [part] = await Promise.all([load(), isOwn && loadViewerTexts(), ...(own ? [] : styles.map(loadSheet))])
  if (typeof part.mount !== 'function') throw new TypeError(`${module} exports no function mount`)
  return part
}
