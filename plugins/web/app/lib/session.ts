import { type QueryFilters, useQuery } from '@tanstack/react-query'
import { type Answer, type ApiError, api, recoverWith, serverEvents } from './api.ts'
import { isReloadable, queries, refresh } from './queries.ts'
import { createStore, useStore } from './store.ts'
import { maySignOut } from './unsaved.ts'

export type Session = Omit<Answer<'GET /api/session'>, 'time'>

const key = ['session'] as const

/** What the page must get from the user before a rejected call can be repeated. */
export type Interruption = 'signed-out' | 'step-up' | 'terms'

interface SessionInterruption {
  readonly what: Interruption
  /** Ways to step up, as listed by the server. */
  readonly methods: readonly string[]
  readonly isOver: Promise<boolean>
  /** Closes the prompt: true when the user completed it. */
  readonly end: (isDone: boolean) => void
}

const interruption = createStore<SessionInterruption | undefined>(undefined)

/** The open prompt, if any. */
export const useInterruption = (): SessionInterruption | undefined => useStore(interruption)

const ask = (what: Interruption, methods: readonly string[] = []): Promise<boolean> => {
  const open = interruption.get()
  if (open) return open.what === what ? open.isOver : open.isOver.then(() => ask(what, methods))
  let answer: (isDone: boolean) => void = () => undefined
  const isOver = new Promise<boolean>(resolve => {
    answer = resolve
  })
  const end = (isDone: boolean): void => {
    interruption.set(undefined)
    answer(isDone)
  }
  interruption.set({ what, methods, isOver, end })
  return isOver
}

/** Who was last known to be signed in: a session that ends unnoticed leads to a prompt. */
let lastUser: string | undefined

/** Notifies the other tabs of this browser, and listeners in this one, that the session has changed. */
const changes = new EventTarget()
const otherTabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('pounce-session')

/** Calls a listener when somebody signs in or out, in this tab or another. */
export const onSessionChange = (listener: () => void): void => changes.addEventListener('change', listener)

const announce = (): void => {
  changes.dispatchEvent(new Event('change'))
  otherTabs?.postMessage('change')
}

/** How often the user of this page has changed: it is then rendered again, without any unsaved state. */
export const personChanges = createStore(0)

const forgetPerson = (): void => {
  queries.removeQueries({ predicate: isOfPerson })
  personChanges.set(personChanges.get() + 1)
}

/** Not the session itself, and not emailed links: once used they are rejected when loaded again. */
const isOfPerson = (query: { readonly queryKey: readonly unknown[] }): boolean =>
  query.queryKey[0] !== key[0] && query.queryKey[0] !== 'link'

/** The server's clock minus `performance.now()`, in milliseconds, or a little less: the response took time to arrive. */
let clockOffset: number | undefined

/** The server's time at a `performance.now()`, or a little before it; undefined until the session was loaded. */
export const serverTime = (at: number): string | undefined =>
  clockOffset === undefined ? undefined : new Date(clockOffset + at).toISOString()

const fetchSession = async (): Promise<Session> => {
  const { time, ...session } = await api('GET /api/session')
  clockOffset = Date.parse(time) - performance.now()
  return session
}

const load = async (): Promise<Session> => {
  const session = await fetchSession()
  const before = currentSession()
  if (session.user) {
    const isAnother = lastUser !== undefined && lastUser !== session.user.id
    lastUser = session.user.id
    // Another tab has signed in: the prompt of this one is closed, and another user sees nothing of the previous one.
    if (interruption.get()?.what === 'signed-out') interruption.get()?.end(!isAnother)
    if (isAnother) setTimeout(forgetPerson)
    if (session.user.termsPending) void ask('terms')
  } else if (lastUser !== undefined && before?.user) {
    // The page stays as it is, with all input, until the user has decided.
    void ask('signed-out')
    return before
  }
  return session
}

const sessionQuery = { queryKey: key, queryFn: load, staleTime: 60_000, refetchOnWindowFocus: true } as const

/** The signed-in user, the site, and the enabled features; undefined until loaded. */
export const useSession = (): Session | undefined => useQuery(sessionQuery).data

/** The session as the page knows it now. */
export const currentSession = (): Session | undefined => queries.getQueryData(key)

/** The session, as soon as it is loaded. */
export const loadedSession = (): Promise<Session> => queries.ensureQueryData(sessionQuery)

/** The caller does not wait, since one of these queries may be retried for minutes. */
const reload = (filters: QueryFilters = {}): void => void queries.invalidateQueries(filters)

/** A load that began before the session changed would end with the old one. */
const forgetPendingLoad = (): Promise<void> => queries.cancelQueries({ queryKey: key })

/** After signing in or out: drops everything that was loaded for another user. */
export const changeSession = async (): Promise<Session> => {
  const before = lastUser
  lastUser = undefined
  queries.removeQueries({ predicate: isOfPerson })
  await forgetPendingLoad()
  const session = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
  announce()
  if (before !== undefined && before !== session.user?.id) forgetPerson()
  else reload({ predicate: isOfPerson })
  return session
}

/** Reloads the session when something of it changed, but not the user. */
export const refreshSession = (): Promise<void> => queries.invalidateQueries({ queryKey: key })

let areRightsReloading = false

/** Reloads what is shown, and with it the rights on it: those of the user have changed. */
export const reloadRights = (): void => {
  if (areRightsReloading) return
  areRightsReloading = true
  setTimeout(() => {
    areRightsReloading = false
    void refreshSession()
    void refresh({ predicate: query => isReloadable(query) && isOfPerson(query) })
  }, 250)
}
// An action that was offered is refused, so it must not be offered any longer.
serverEvents.addEventListener('forbidden', reloadRights)

/** Does nothing if the user keeps an unsaved text, or uploads that are not finished. */
export const signOut = async (): Promise<void> => {
  if (!(await maySignOut())) return
  await api('POST /api/logout')
  await changeSession()
}

/**
 * After signing in on a page whose session had ended. True when the user is the same; another one gets no unsaved state.
 */
export const resumeSession = async (): Promise<boolean> => {
  const before = lastUser
  await forgetPendingLoad()
  const session = await fetchSession()
  if (session.user?.id === before) {
    queries.setQueryData(key, session)
    announce()
    serverEvents.dispatchEvent(new Event('signed-in'))
    reload()
    return true
  }
  await changeSession()
  return false
}

if (otherTabs)
  otherTabs.onmessage = () => {
    void refreshSession().then(() => changes.dispatchEvent(new Event('change')))
  }

const methodsOf = (error: ApiError): readonly string[] => {
  const { methods } = error.details
  return Array.isArray(methods) ? methods.map(String) : []
}

recoverWith(async error => {
  if (error.code === 'step-up-required') return ask('step-up', methodsOf(error))
  if (error.code === 'terms-not-accepted') return ask('terms')
  // The page informs anonymous users itself; only a session that existed can be resumed.
  return lastUser === undefined ? false : ask('signed-out')
})
