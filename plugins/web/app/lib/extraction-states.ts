import { useSyncExternalStore } from 'react'
import { api } from './api.ts'
import { onLiveEvent } from './live.ts'

/** What an extractor does with a file or dataset at the moment, or that it failed. */
export interface ExtractionState {
  readonly state: 'working' | 'failed'
  readonly extractor: string
}

const maxStates = 10_000
let states: ReadonlyMap<string, ExtractionState> = new Map()
const listeners = new Set<() => void>()
let isListening = false

const idOfTarget = (target: unknown): string | undefined => {
  if (typeof target === 'string') return target.split('/').at(-1)
  const id = (target as { readonly id?: unknown } | null | undefined)?.id
  return typeof id === 'string' ? id : undefined
}

const keep = (next: Map<string, ExtractionState>): void => {
  for (const oldest of next.keys()) {
    if (next.size <= maxStates) break
    next.delete(oldest)
  }
  states = next
  for (const listener of listeners) listener()
}

/** Loads the states of at most a thousand files and datasets; live events change them afterwards. Where that fails, no state is shown. */
export const loadExtractionStates = async (ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  const found = await api('POST /api/extractions/states', { body: { ids } }).catch(() => undefined)
  if (!found) return
  const next = new Map(states)
  for (const id of ids) next.delete(id)
  for (const { id, state, extractor } of found) next.set(id, { state: state === 'failed' ? 'failed' : 'working', extractor })
  keep(next)
}

const listen = (): void => {
  isListening = true
  onLiveEvent(({ type, data }) => {
    if (!type.startsWith('extraction.')) return
    const id = idOfTarget(data['target'])
    if (id === undefined) return
    const next = new Map(states)
    next.delete(id)
    const extractor = typeof data['extractor'] === 'string' ? data['extractor'] : ''
    if (type !== 'extraction.finished') next.set(id, { state: type === 'extraction.failed' ? 'failed' : 'working', extractor })
    keep(next)
  })
}

const subscribe = (listener: () => void): (() => void) => {
  if (!isListening) listen()
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** States of extractions by the id of what they work on, as loaded, and as live events have told since. */
export const useExtractionStates = (): ReadonlyMap<string, ExtractionState> => useSyncExternalStore(subscribe, () => states)
