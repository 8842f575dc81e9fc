import { ApiError, isRefusal, serverEvents } from '../api.ts'
import { queries } from '../queries.ts'
import { currentSession } from '../session.ts'
import type { Chosen, ChosenFile } from './chosen-files.ts'
import { sendFile } from './send-file.ts'
import { arrivedOf, ensureFolder, withRetries } from './upload-requests.ts'
import {
  lockBatch,
  removeBatch,
  type StoredBatch,
  storeBatch,
  storedBatch,
  storedBatches,
  type UploadTarget,
  unlockBatch,
} from './upload-storage.ts'

/**
 * `missing`: after a reload the browser no longer has the file, and it has to be selected again. `skipped`: it already existed. `failed` has a
 * reason and can be retried.
 */
export type UploadState = 'waiting' | 'sending' | 'done' | 'skipped' | 'failed' | 'missing' | 'cancelled'

/** A queued file. */
export interface UploadItem {
  readonly key: string
  readonly batch: string
  readonly target: UploadTarget
  readonly path: string
  readonly size: number
  readonly lastModified: number
  readonly file?: File | undefined
  readonly handle?: FileSystemFileHandle | undefined
  /** The ID of a file of this path and size that was in the dataset when this one was added. */
  readonly before?: string | undefined
  readonly state: UploadState
  readonly sent: number
  /** While it is being sent: the server is unreachable, and a retry is due shortly. */
  readonly isOffline?: boolean
  readonly error?: unknown
  readonly fileId?: string | undefined
}

/** A snapshot of the queue. */
export interface QueueState {
  readonly items: readonly UploadItem[]
  readonly isPaused: boolean
  /** Why the queue paused itself: signed out, or no space on the server. */
  readonly pauseReason?: 'signed-out' | 'no-space' | undefined
  /** Nothing can be sent until the server is reachable again. */
  readonly isOffline: boolean
  readonly bytes: number
  readonly sentBytes: number
  readonly bytesPerSecond: number
  readonly counts: Readonly<Record<UploadState, number>>
}

/** Browsers have six connections to a server; one is the live stream's, and pages need one too. */
const maxConcurrent = 4
const speedWindowMs = 5000
const shownEveryMs = 300

const noCounts: Readonly<Record<UploadState, number>> = { waiting: 0, sending: 0, done: 0, skipped: 0, failed: 0, missing: 0, cancelled: 0 }
const ended: ReadonlySet<UploadState> = new Set(['done', 'skipped', 'cancelled'])

/** The files to upload, in order. It lives as long as the page, whatever its URL, and continues after a reload. */
class UploadQueue {
  #items = new Map<string, UploadItem>()
  /** Number of unfinished files in each batch. */
  #open = new Map<string, number>()
  #waiting: string[] = []
  #running = new Map<string, AbortController>()
  #listeners = new Set<() => void>()
  #state: QueueState = { items: [], isPaused: false, isOffline: false, bytes: 0, sentBytes: 0, bytesPerSecond: 0, counts: noCounts }
  #isPaused = false
  #pauseReason: QueueState['pauseReason']
  #samples: { readonly at: number; readonly bytes: number }[] = []
  #shown: { readonly timer: ReturnType<typeof setTimeout>; readonly isPrompt: boolean } | undefined
  #user: string | undefined
  /** Batches with a file that was refused: the page is reloaded once for each. */
  #refused = new Set<string>()

  constructor() {
    window.addEventListener('beforeunload', event => {
      if (this.isBusy) event.preventDefault()
    })
    serverEvents.addEventListener('signed-in', () => this.#pauseReason === 'signed-out' && this.resume())
  }

  get isBusy(): boolean {
    return !this.#isPaused && (this.#running.size > 0 || this.#waiting.length > 0)
  }

  /** Number of files to send, also if they are paused. */
  get unsentCount(): number {
    return this.#running.size + this.#waiting.length
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): QueueState => this.#state

  /** Gives an interrupted batch the files that it lost in a reload, if they were selected again; returns the new ones. */
  rejoin({ dataset }: UploadTarget, chosen: Chosen): Chosen {
    const known = new Map([...this.#items.values()].filter(item => item.target.dataset === dataset).map(item => [item.path, item]))
    if (![...known.values()].some(item => item.state === 'missing')) return chosen
    const files = chosen.files.filter(({ path, file, handle }) => {
      const item = known.get(path)
      if (!item || !isSame(file, item)) return true
      if (item.state === 'missing') this.#change(item.key, { state: 'waiting', file, handle }, true)
      return false
    })
    this.#next()
    return { ...chosen, files }
  }

  /**
   * Puts files into the queue, and creates folders that have none. Rejects where a folder is refused; the files are on their way then. `there`: the IDs of
   * files of the same path and size that are in the dataset already.
   */
  async add(target: UploadTarget, { files, emptyFolders }: Chosen, there: ReadonlyMap<string, string>): Promise<void> {
    if (files.length > 0) {
      const batch = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`
      this.#put(files.map(one => newItem(batch, target, one, there.get(one.path))))
      // Files can be chosen before batches of an earlier page are restored, which is when the queue learns whose it is.
      const stored = storedOf(batch, this.#user ?? currentSession()?.user?.id ?? '', target, files, there)
      // Locked first: another tab would restore it.
      void lockBatch(batch).then(() => (this.#open.has(batch) ? storeBatch(stored) : unlockBatch(batch)))
    }
    this.#next()
    for (const path of emptyFolders) await withRetries(() => ensureFolder(target, path))
    if (emptyFolders.length > 0) void queries.invalidateQueries({ queryKey: ['dataset', target.dataset] })
  }

  /** After signing in: restores batches of this user that a reload interrupted, not those of other tabs. What arrived meanwhile is not sent again. */
  async restore(user: string): Promise<void> {
    if (this.#user === user) {
      if (this.#pauseReason === 'signed-out') this.resume()
      return
    }
    if (this.#user !== undefined) this.#leave()
    this.#user = user
    const known = (): ReadonlySet<string> => new Set([...this.#items.values()].map(({ batch }) => batch))
    for (const { id, user: owner } of await storedBatches()) {
      if (owner !== user || known().has(id) || !(await lockBatch(id))) continue
      // The tab that had it may have finished it meanwhile.
      const batch = await storedBatch(id)
      const items = batch && (await restoredItems(batch))
      // Another user may have signed in meanwhile.
      if (!items || this.#user !== user) unlockBatch(id)
      else {
        this.#put(items)
        this.#finishBatch(id)
      }
      if (this.#user !== user) return
    }
    this.#next()
  }

  /** Another user has signed in. The stored batches are kept for their owner. */
  #leave(): void {
    for (const controller of this.#running.values()) controller.abort()
    this.#running.clear()
    this.#waiting = []
    this.#items.clear()
    for (const batch of this.#open.keys()) unlockBatch(batch)
    this.#open.clear()
    this.resume()
  }

  /** Opens the files of interrupted batches by their handles. The browser prompts for permission, so call it when a button is pressed. */
  async reopen(): Promise<void> {
    for (const item of this.#items.values()) {
      if (item.state !== 'missing' || !item.handle) continue
      const file = await opened(item.handle)
      if (file && isSame(file, item)) this.#change(item.key, { state: 'waiting', file }, true)
    }
    this.#next()
  }

  pause(reason?: QueueState['pauseReason']): void {
    this.#isPaused = true
    this.#pauseReason = reason
    for (const [key, controller] of this.#running) {
      controller.abort()
      this.#change(key, { state: 'waiting' })
      this.#waiting.unshift(key)
    }
    this.#running.clear()
    this.#notify(true)
  }

  /** Nothing is sent until the user signs in again, unless the user had paused the uploads. */
  pauseForSignOut(): void {
    if (!this.#isPaused) this.pause('signed-out')
  }

  resume(): void {
    this.#isPaused = false
    this.#pauseReason = undefined
    this.#next()
    this.#notify(true)
  }

  cancel(key: string): void {
    this.#running.get(key)?.abort()
    this.#running.delete(key)
    this.#waiting = this.#waiting.filter(one => one !== key)
    this.#change(key, { state: 'cancelled' })
    this.#finishBatch(this.#items.get(key)?.batch)
    this.#next()
    this.#notify(true)
  }

  cancelAll(): void {
    // First, so that none starts when another one ends.
    this.#waiting = []
    for (const controller of this.#running.values()) controller.abort()
    this.#running.clear()
    const batches = [...this.#open.keys()]
    for (const { key, state } of this.#items.values()) if (!ended.has(state)) this.#change(key, { state: 'cancelled' })
    for (const batch of batches) this.#finishBatch(batch)
    this.clear()
  }

  retry(key: string): void {
    const item = this.#items.get(key)
    if (item?.state !== 'failed') return
    this.#change(key, { state: 'waiting', sent: 0, error: undefined }, true)
    this.#next()
    this.#notify(true)
  }

  retryAll(): void {
    for (const { key, state } of [...this.#items.values()]) if (state === 'failed') this.retry(key)
  }

  /** Removes finished files from the list. */
  clear(): void {
    for (const [key, { state }] of this.#items) if (ended.has(state)) this.#items.delete(key)
    this.#samples = []
    this.#notify(true)
  }

  #put(items: readonly UploadItem[]): void {
    for (const item of items) {
      this.#set(item)
      if (item.state === 'waiting') this.#waiting.push(item.key)
    }
    this.#notify(true)
  }

  #next(): void {
    while (!this.#isPaused && this.#running.size < maxConcurrent) {
      const key = this.#waiting.shift()
      if (key === undefined) break
      const item = this.#items.get(key)
      if (item?.state === 'waiting') void this.#send(item)
    }
    this.#notify()
  }

  async #send(item: UploadItem): Promise<void> {
    const { key } = item
    const controller = new AbortController()
    this.#running.set(key, controller)
    this.#change(key, { state: 'sending', isOffline: false, error: undefined })
    try {
      const fileId = await withRetries(async isRepeat => {
        try {
          const there = isRepeat ? (await arrivedOf(item.target, [item])).get(item.path) : undefined
          return there ?? (await sendFile(item, sent => this.#progress(key, sent), controller.signal))
        } catch (error) {
          if (error instanceof ApiError && error.code === 'unreachable' && !controller.signal.aborted)
            this.#change(key, { isOffline: true })
          throw error
        }
      }, controller.signal)
      this.#progress(key, item.size)
      this.#change(key, { state: 'done', fileId, file: undefined })
    } catch (error) {
      if (controller.signal.aborted) return
      if (error instanceof ApiError && error.status === 401) {
        this.#change(key, { state: 'waiting' })
        this.#running.delete(key)
        this.#waiting.unshift(key)
        this.pause('signed-out')
        return
      }
      this.#change(key, { state: 'failed', error })
      if (error instanceof ApiError && isRefusal(error.code) && !this.#refused.has(item.batch)) {
        this.#refused.add(item.batch)
        serverEvents.dispatchEvent(new Event('forbidden'))
      }
      if (error instanceof ApiError && error.status === 507) this.pause('no-space')
    }
    this.#running.delete(key)
    this.#finishBatch(item.batch)
    this.#next()
    // The end is shown at once.
    if (!this.isBusy) this.#notify(true)
  }

  /** A batch that has nothing left to do need not be remembered. */
  #finishBatch(batch: string | undefined): void {
    if (batch === undefined || this.#open.has(batch)) return
    void removeBatch(batch).then(() => unlockBatch(batch))
  }

  #progress(key: string, sent: number): void {
    const item = this.#items.get(key)
    if (item?.isOffline) this.#change(key, { isOffline: false })
    if (!item || item.sent >= sent) return
    const now = Date.now()
    this.#samples.push({ at: now, bytes: sent - item.sent })
    while (this.#samples[0] && this.#samples[0].at < now - speedWindowMs) this.#samples.shift()
    this.#change(key, { sent })
  }

  #change(key: string, change: Partial<UploadItem>, isWaiting = false): void {
    const item = this.#items.get(key)
    if (!item) return
    this.#set({ ...item, ...change })
    if (isWaiting) this.#waiting.push(key)
    this.#notify()
  }

  #set(item: UploadItem): void {
    const { key, batch } = item
    const open = (this.#open.get(batch) ?? 0) + openAs(item) - openAs(this.#items.get(key))
    if (open > 0) this.#open.set(batch, open)
    else this.#open.delete(batch)
    this.#items.set(key, item)
  }

  /** A few times a second, however many files change: rendering the list takes time from sending. `isPrompt`: after a click, the update is immediate. */
  #notify(isPrompt = false): void {
    if (this.#shown && (this.#shown.isPrompt || !isPrompt)) return
    clearTimeout(this.#shown?.timer)
    const show = (): void => {
      this.#shown = undefined
      this.#state = this.#summary()
      for (const listener of this.#listeners) listener()
    }
    this.#shown = { timer: setTimeout(show, isPrompt ? 0 : shownEveryMs), isPrompt }
  }

  #summary(): QueueState {
    const items = [...this.#items.values()]
    const counts = { ...noCounts }
    let bytes = 0
    let sentBytes = 0
    for (const { state, size, sent } of items) {
      counts[state]++
      if (state === 'cancelled' || state === 'skipped') continue
      bytes += size
      sentBytes += Math.min(size, sent)
    }
    const running = items.filter(({ state }) => state === 'sending')
    const isOffline = running.length > 0 && running.every(item => item.isOffline)
    const first = this.#samples[0]
    const ms = first ? Math.max(1000, Date.now() - first.at) : 1
    const bytesPerSecond = (this.#samples.reduce((sum, sample) => sum + sample.bytes, 0) / ms) * 1000
    return { items, isPaused: this.#isPaused, pauseReason: this.#pauseReason, isOffline, bytes, sentBytes, bytesPerSecond, counts }
  }
}

const openAs = (item: UploadItem | undefined): 0 | 1 => (item === undefined || ended.has(item.state) ? 0 : 1)

const newItem = (batch: string, target: UploadTarget, { path, file, handle }: ChosenFile, before: string | undefined): UploadItem => ({
  key: `${batch}/${path}`,
  batch,
  target,
  path,
  size: file.size,
  lastModified: file.lastModified,
  file,
  handle,
  before,
  state: 'waiting',
  sent: 0,
})

/** The files of a batch that a reload interrupted. */
const restoredItems = async ({ id, target, files }: StoredBatch): Promise<readonly UploadItem[]> => {
  let arrived: ReadonlyMap<string, string>
  try {
    arrived = await withRetries(() => arrivedOf(target, files))
  } catch (error) {
    // The dataset is gone, or no longer open to this person: each file says so.
    return files.map(({ path, size, lastModified }) => ({
      key: `${id}/${path}`,
      batch: id,
      target,
      path,
      size,
      lastModified,
      state: 'failed',
      sent: 0,
      error,
    }))
  }
  const items: UploadItem[] = []
  for (const stored of files) {
    const { path, size, lastModified, handle, before } = stored
    const base = { key: `${id}/${path}`, batch: id, target, path, size, lastModified, handle, before, sent: 0 }
    const there = arrived.get(path)
    if (there !== undefined) items.push({ ...base, state: 'done', sent: size, fileId: there })
    else {
      const file = handle && (await isGranted(handle)) ? await opened(handle) : undefined
      items.push(file && isSame(file, stored) ? { ...base, state: 'waiting', file } : { ...base, state: 'missing' })
    }
  }
  return items
}

const storedOf = (
  id: string,
  user: string,
  target: UploadTarget,
  files: readonly ChosenFile[],
  there: ReadonlyMap<string, string>,
): StoredBatch => ({
  id,
  user,
  target,
  files: files.map(({ path, file, handle }) => ({
    path,
    size: file.size,
    lastModified: file.lastModified,
    handle,
    before: there.get(path),
  })),
})

const isSame = (file: File, { size, lastModified }: { readonly size: number; readonly lastModified: number }): boolean =>
  file.size === size && file.lastModified === lastModified

const opened = async (handle: FileSystemFileHandle): Promise<File | undefined> => {
  try {
    const permission = await (handle as PermissionHandle).requestPermission?.({ mode: 'read' })
    return permission === 'denied' ? undefined : await handle.getFile()
  } catch {
    return undefined
  }
}

interface PermissionHandle extends FileSystemFileHandle {
  queryPermission?(options: { readonly mode: 'read' }): Promise<PermissionState>
  requestPermission?(options: { readonly mode: 'read' }): Promise<PermissionState>
}

const isGranted = async (handle: FileSystemFileHandle): Promise<boolean> =>
  (await (handle as PermissionHandle).queryPermission?.({ mode: 'read' }).catch(() => 'denied')) === 'granted'

/** The one queue of this tab. */
export const uploads = new UploadQueue()
