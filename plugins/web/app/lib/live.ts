import { urlOf } from './api.ts'
import { isReloadable, refresh } from './queries.ts'
import { currentSession, loadedSession, onSessionChange, reloadRights, serverTime } from './session.ts'

/** A CloudEvent of `GET /api/live`, with the fields used by pages. */
export interface LiveEvent {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  /** Where the stream continues after this event. */
  readonly position: string
}

type Listener = (events: readonly LiveEvent[]) => void

const listeners = new Set<Listener>()

/** Calls a listener with the events that this user may view, in order and batched to a few times a second; returns a function to unsubscribe. */
export const onLiveEvents = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Rendering a page for each event of a burst, such as an upload with its extractions, would be too slow. */
const gatherMs = 200
let gathered: LiveEvent[] = []

const deliver = (event: LiveEvent): void => {
  if (gathered.push(event) > 1) return
  setTimeout(() => {
    const events = gathered
    gathered = []
    for (const listener of listeners) listener(events)
  }, gatherMs)
}

/** Stale keys, collected so that a burst of events refreshes a page once. */
const stale = new Map<string, readonly string[]>()
let isWaiting = false
let refreshedAt = 0

let waitedMs = 0

/**
 * A single event is shown almost at once; during a burst, such as an upload, pages are refreshed after one second, then two, then every three: loading and
 * rendering them takes time from what causes the events.
 */
const nextWaitMs = (): number => {
  const isBurst = Date.now() - refreshedAt < Math.max(2000, waitedMs)
  waitedMs = isBurst ? Math.min(3000, waitedMs < 1000 ? 1000 : waitedMs + 1000) : 250
  return waitedMs
}

const markStale = (key: readonly string[]): void => {
  stale.set(key.join('/'), key)
  if (isWaiting) return
  isWaiting = true
  setTimeout(() => {
    isWaiting = false
    refreshedAt = Date.now()
    const keys = [...stale.values()]
    stale.clear()
    for (const queryKey of keys) void refresh({ queryKey, predicate: isReloadable })
  }, nextWaitMs())
}

const parents = ['space', 'collection', 'dataset', 'folder', 'file'] as const

/** The target of an extractor, preview, tag or comment: `file/6741c1…`, or an object. */
const targetOf = (target: unknown): readonly string[] | undefined => {
  if (typeof target === 'string') return target.split('/')
  const { kind, id } = (target ?? {}) as { readonly kind?: unknown; readonly id?: unknown }
  return typeof kind === 'string' && typeof id === 'string' ? [kind, id] : undefined
}

/** A `performance.now()` before the data of this page was loaded. */
let loadedSince = 0
/** The position of the last event, which another tab may have received, or the time that `loadedSince` is; empty until known. */
let position = ''

/** The event does not name the collections and spaces whose lists and counts it changes. */
const changesContainers = /^(?:dataset|collection)\.(?:trashed|restored|deleted)$/

const receive = (event: LiveEvent): void => {
  position = event.position
  const [kind = '', id = ''] = event.subject.split('/')
  if (id !== '') markStale([kind, id])
  if (/\.(?:created|deleted|trashed|restored|attached|detached|updated|submitted|finished|failed)$/.test(event.type))
    markStale([kind, 'list'])
  if (changesContainers.test(event.type)) for (const container of ['collection', 'space']) markStale([container])
  const target = targetOf(event.data['target'])
  if (target) markStale(target)
  for (const parent of parents) {
    const about = event.data[parent]
    for (const one of Array.isArray(about) ? about : [about]) if (typeof one === 'string') markStale([parent, one])
  }
  const isOwnMembership = event.type === 'space.member-changed' && event.data['user'] === currentSession()?.user?.id
  // Who may view the resources of a deleted space, and what leads to them, has changed.
  if (isOwnMembership || event.type === 'space.deleted') reloadRights()
  if (event.type === 'replay.incomplete') void refresh({ predicate: isReloadable })
  deliver(event)
}

/**
 * One stream for all tabs of this browser: the tab that holds the lock reads it and passes events on. Without a stream the pages still work; they
 * load data when they are opened and when the window gets the focus.
 */
export const startLive = (): void => {
  if (typeof BroadcastChannel === 'undefined' || !navigator.locks) {
    listen(receive)
    return
  }
  const channel = new BroadcastChannel('pounce-live')
  channel.onmessage = ({ data }: MessageEvent<readonly LiveEvent[]>) => data.forEach(receive)
  let toPass: LiveEvent[] = []
  const pass = (): void => {
    channel.postMessage(toPass)
    toPass = []
  }
  void navigator.locks.request('pounce-live', () => {
    listen(event => {
      receive(event)
      if (toPass.push(event) === 1) setTimeout(pass, 100)
    })
    // Held until the tab is closed.
    return new Promise(() => undefined)
  })
}

const listen = (listener: (event: LiveEvent) => void): void => {
  let retryMs = 1000
  let current: EventSource | undefined
  let attempts = 0
  const later = (): void => {
    setTimeout(() => void connect(), retryMs)
    retryMs = Math.min(60_000, retryMs * 2)
  }
  const connect = async (): Promise<void> => {
    current?.close()
    current = undefined
    attempts++
    const attempt = attempts
    const session = await loadedSession().catch(() => undefined)
    if (attempt !== attempts) return
    if (!session) {
      later()
      return
    }
    // A private server has nothing for anonymous users; signing in connects.
    if (!session.user && session.capabilities.private) return
    // What changed between the load of the data and the opening of the stream is replayed.
    position ||= serverTime(loadedSince) ?? ''
    const source = new EventSource(urlOf('/api/live', { since: position || undefined }))
    current = source
    source.onopen = () => {
      retryMs = 1000
    }
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
      listener({ ...(JSON.parse(data) as Omit<LiveEvent, 'position'>), position: lastEventId || position })
    }
    source.onerror = () => {
      // The browser closes a rejected stream, and reopens an interrupted one by itself.
      if (source !== current || source.readyState !== EventSource.CLOSED) return
      later()
    }
  }
  void connect()
  // The content of the stream depends on the signed-in user.
  onSessionChange(() => {
    position = ''
    loadedSince = performance.now()
    void connect()
  })
}
