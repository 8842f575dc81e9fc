import type { Column } from '../callers.ts'
import type { Letter, Mode } from './letters.ts'
import { type By, callers, holds, sees, type Thing } from './rights.ts'
import { readOnly } from './roles.ts'
import { isTrashed, mayClear, seesInTrash } from './trash.ts'

/** What there is not, whatever id it has. */
export const isAbsent = (state: string): boolean => ['deleted', 'unknown', 'other', 'malformed'].includes(state)

/** 404 for what the caller may not view, 403 for what one may; 401 for anyone who has not said who they are (promises, Authorisation). */
const refusal = (caller: Column, isSeen: boolean): Letter => {
  if (callers[caller].isAnonymous) return isSeen ? 'a' : 'v'
  return isSeen ? 'n' : 'u'
}

/** An upload in pieces is there for anyone who began it, by a key that is not held to spaces (0022). */
const onUpload = (caller: Column, thing: Thing): Letter => {
  const isOwn = thing.state === 'own' || (caller === 'author' && thing.state === 'lab')
  return isOwn && !callers[caller].isElsewhere ? 'y' : refusal(caller, false)
}

const onTrashed = (caller: Column, permission: string, by: By, thing: Thing, isReading: boolean): Letter => {
  if (by !== 'live' && mayClear(caller, permission, thing)) return 'y'
  if (!seesInTrash(caller, thing)) return refusal(caller, false)
  return isReading ? 'y' : 'f'
}

/** A right on a resource; `isReading`: the request only looks. */
export const onThing = (mode: Mode, caller: Column, permission: string, by: By, thing: Thing, isReading: boolean): Letter => {
  if (isAbsent(thing.state)) return refusal(caller, false)
  if (permission === 'begun') return onUpload(caller, thing)
  if (isTrashed(thing)) return onTrashed(caller, permission, by, thing, isReading)
  return holds(mode, caller, permission, thing, by) ? 'y' : refusal(caller, sees(mode, caller, thing))
}

/** A permission that is checked on nothing in particular passes for every user; for anonymous callers what is READONLY, where it is public. */
const permissionAlone = (mode: Mode, caller: Column, permission: string): boolean => {
  const { isAnonymous, lets = () => true } = callers[caller]
  if (!isAnonymous) return lets(permission)
  return readOnly.has(permission) && (mode === 'public' || (permission === 'ViewGeoStream' && mode === 'private'))
}

/** Words of the perm codes of the reference, and of decision 0022 for limited keys. */
const words: Readonly<Record<string, (mode: Mode, caller: Column, isReading: boolean) => boolean>> = {
  anyone: () => true,
  /** `priv`: on a private server a user is needed. */
  reader: (mode, caller) => mode === 'public' || !callers[caller].isAnonymous,
  /** `auth`. A key that is held to verbs takes the verb, one that is held to spaces does not do. */
  signedIn: (_mode, caller, isReading) => {
    const { isAnonymous, isElsewhere } = callers[caller]
    return !isAnonymous && !isElsewhere && (isReading || caller !== 'readKey')
  },
  /** `auth` where each resource is checked, or nothing is returned that the holder of the key may not see. */
  anyKey: (_mode, caller) => !callers[caller].isAnonymous,
  /** Keys, sessions, passwords: for no key that is limited or an extractor's. */
  account: (_mode, caller) => !callers[caller].isAnonymous && !['extractor', 'readKey', 'otherSpaceKey'].includes(caller),
  /** `admin`: status Admin, or superadmin mode. */
  serverAdmin: (_mode, caller) => callers[caller].isServerAdmin === true,
  /** ViewUser, where a key that is held to spaces finds no one. */
  lookAround: (mode, caller) => permissionAlone(mode, caller, 'ViewUser') && !callers[caller].isElsewhere,
  /** AddFile, where a key that is held to spaces finds what it began itself. */
  placed: (mode, caller) => permissionAlone(mode, caller, 'AddFile') || callers[caller].isElsewhere === true,
  /** Groups: on a private server their members and server admins let them in; the one that is sent has none (docs/security.md). */
  lettingIn: (mode, caller) => !callers[caller].isAnonymous && (mode === 'public' || callers[caller].isServerAdmin === true),
}

/** What is said of routes besides permissions. */
export const wordNames: readonly string[] = Object.keys(words)

/** A word, or a permission where no thing is named. */
export const onNothing = (mode: Mode, caller: Column, word: string, isReading: boolean): Letter => {
  const isLetIn = words[word]?.(mode, caller, isReading) ?? permissionAlone(mode, caller, word)
  return isLetIn ? 'y' : refusal(caller, true)
}
