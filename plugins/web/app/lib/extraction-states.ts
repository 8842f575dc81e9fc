import { useSyncExternalStore } from 'react'
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
    for (const oldest of next.keys()) {
      if (next.size <= maxStates) break
      next.delete(oldest)
    }
    states = next
    for (const listener of listeners) listener()
  })
}

const subscribe = (listener: () => void): (() => void) => {
  if (!isListening) listen()
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** States of extractions by the id of what they work on, as live events told since the page was loaded. */
export const useExtractionStates = (): ReadonlyMap<string, ExtractionState> => useSyncExternalStore(subscribe, () => states)
