import { useSyncExternalStore } from 'react'
import { api } from './api.ts'
import { onLiveEvents } from './live.ts'

/** The state of an extractor on a file or dataset: running or failed. */
export interface ExtractionState {
  readonly state: 'working' | 'failed'
  readonly extractor: string
}

const maxStates = 10_000
const states = new Map<string, ExtractionState>()
const listeners = new Set<() => void>()
let isListening = false

const idOfTarget = (target: unknown): string | undefined => {
  if (typeof target === 'string') return target.split('/').at(-1)
  const id = (target as { readonly id?: unknown } | null | undefined)?.id
  return typeof id === 'string' ? id : undefined
}

/** Without a state nothing is running. Unchanged states stay the same object, so that nothing is rendered again for them. */
const set = (id: string, state?: ExtractionState): void => {
  const known = states.get(id)
  if (state && known?.state === state.state && known.extractor === state.extractor) return
  states.delete(id)
  if (state) states.set(id, state)
}

const notifyListeners = (): void => {
  for (const oldest of states.keys()) {
    if (states.size <= maxStates) break
    states.delete(oldest)
  }
  for (const listener of listeners) listener()
}

/** Loads the states of at most a thousand files and datasets; live events update them afterwards. On failure, no state is shown. */
export const loadExtractionStates = async (ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  const found = await api('POST /api/extractions/states', { body: { ids } }).catch(() => undefined)
  if (!found) return
  const known = new Map(
    found.map(({ id, state, extractor }) => [id, { state: state === 'failed' ? 'failed' : 'working', extractor } as const]),
  )
  for (const id of ids) set(id, known.get(id))
  notifyListeners()
}

/** Where an extractor has ended: others may still be running there, or have failed before. */
const outdated = new Set<string>()
let isReloading = false
const firstReloadMs = 200
/** During a burst, such as the extractions of an upload. */
const reloadMs = 1000
const maxIds = 1000

const reload = async (): Promise<void> => {
  if (isReloading) return
  isReloading = true
  for (let waitMs = firstReloadMs; outdated.size > 0; waitMs = reloadMs) {
    // What ends together is loaded together.
    await new Promise(resolve => setTimeout(resolve, waitMs))
    const ids = [...outdated].slice(0, maxIds)
    for (const id of ids) outdated.delete(id)
    await loadExtractionStates(ids)
  }
  isReloading = false
}

const listen = (): void => {
  isListening = true
  onLiveEvents(events => {
    for (const { type, data } of events) {
      const id = type.startsWith('extraction.') ? idOfTarget(data['target']) : undefined
      if (id === undefined) continue
      const extractor = typeof data['extractor'] === 'string' ? data['extractor'] : ''
      if (type !== 'extraction.finished' && type !== 'extraction.failed') set(id, { state: 'working', extractor })
      else if (states.has(id)) outdated.add(id)
      else if (type === 'extraction.failed') set(id, { state: 'failed', extractor })
    }
    void reload()
    notifyListeners()
  })
}

const subscribe = (listener: () => void): (() => void) => {
  if (!isListening) listen()
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The extractor states of a file or dataset: as loaded, then updated by live events. */
export const useExtractionState = (id: string): ExtractionState | undefined => useSyncExternalStore(subscribe, () => states.get(id))
