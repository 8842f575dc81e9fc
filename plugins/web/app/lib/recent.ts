import { useSyncExternalStore } from 'react'

/** A recently opened resource page on this computer. */
export interface Recent {
  readonly kind: string
  readonly id: string
  readonly name: string
}

const maxRecent = 12
const kinds: Readonly<Record<string, string>> = {
  datasets: 'dataset',
  files: 'file',
  collection: 'collection',
  collections: 'collection',
  spaces: 'space',
}

const keyOf = (user: string): string => `pounce.recent.${user}`

const read = (user: string): string => {
  try {
    return localStorage.getItem(keyOf(user)) ?? '[]'
  } catch {
    // Storage is blocked: nothing is stored.
    return '[]'
  }
}

const listed = (text: string): readonly Recent[] => {
  try {
    const known: unknown = JSON.parse(text)
    return Array.isArray(known) ? (known as Recent[]).filter(({ kind, id, name }) => Boolean(kind && id && name)) : []
  } catch {
    return []
  }
}

/** Records, for a user and on this computer only, that the page of a resource was opened. */
export const rememberPage = (user: string, path: string, name: string): void => {
  const [, folder = '', id = ''] = /\/(datasets|files|collections?|spaces)\/([0-9a-f]{24})$/.exec(path) ?? []
  const kind = kinds[folder]
  if (!kind) return
  const others = listed(read(user)).filter(recent => recent.id !== id)
  try {
    localStorage.setItem(keyOf(user), JSON.stringify([{ kind, id, name }, ...others].slice(0, maxRecent)))
  } catch {
    // Storage is full or blocked: the page works without it.
  }
}

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener('storage', listener)
  return () => window.removeEventListener('storage', listener)
}

/** Recently used resources on this computer, newest first. */
export const useRecent = (user: string): readonly Recent[] => listed(useSyncExternalStore(subscribe, () => read(user)))
