import type { Column } from '../callers.ts'
import type { Letter, Mode } from './letters.ts'
import { type By, callers, holds, sees, type Thing } from './rights.ts'
import { readOnly } from './roles.ts'
import { isTrashed, mayClear, seesInTrash } from './trash.ts'

/** Whether no such resource exists. */
export const isAbsent = (state: string): boolean => ['deleted', 'unknown', 'other', 'malformed'].includes(state)

/** 404 for hidden resources, 403 for visible ones; 401 for anonymous callers (promises, Authorisation). */
const refusal = (caller: Column, isSeen: boolean): Letter => {
  if (callers[caller].isAnonymous) return isSeen ? 'a' : 'v'
  return isSeen ? 'n' : 'u'
}

/** A resumable upload is visible to the user who started it, with a key that is not limited to spaces (0022). */
const onUpload = (caller: Column, thing: Thing): Letter => {
  const isOwn = thing.state === 'own' || (caller === 'author' && thing.state === 'lab')
  return isOwn && !callers[caller].isElsewhere ? 'y' : refusal(caller, false)
}

const onTrashed = (caller: Column, permission: string, by: By, thing: Thing, isReading: boolean): Letter => {
  if (by !== 'live' && mayClear(caller, permission, thing)) return 'y'
  if (!seesInTrash(caller, thing)) return refusal(caller, false)
  return isReading ? 'y' : 'f'
}

/** A permission on a resource; `isReading`: the request only reads. */
export const onThing = (mode: Mode, caller: Column, permission: string, by: By, thing: Thing, isReading: boolean): Letter => {
  if (isAbsent(thing.state)) return refusal(caller, false)
  if (permission === 'begun') return onUpload(caller, thing)
  if (isTrashed(thing)) return onTrashed(caller, permission, by, thing, isReading)
  return holds(mode, caller, permission, thing, by) ? 'y' : refusal(caller, sees(mode, caller, thing))
}

/** A permission without a resource: granted to every user; to anonymous callers if it is READONLY and the server public. */
const permissionAlone = (mode: Mode, caller: Column, permission: string): boolean => {
  const { isAnonymous, lets = () => true } = callers[caller]
  if (!isAnonymous) return lets(permission)
  return readOnly.has(permission) && (mode === 'public' || (permission === 'ViewGeoStream' && mode === 'private'))
}

/** Words for the perm codes of the reference, and of decision 0022 for limited keys. */
const words: Readonly<Record<string, (mode: Mode, caller: Column, isReading: boolean) => boolean>> = {
  anyone: () => true,
  /** `priv`: a private server requires a user. */
  reader: (mode, caller) => mode === 'public' || !callers[caller].isAnonymous,
  /** `auth`. A key limited to verbs needs the verb; a key limited to spaces is refused. */
  signedIn: (_mode, caller, isReading) => {
    const { isAnonymous, isElsewhere } = callers[caller]
    return !isAnonymous && !isElsewhere && (isReading || caller !== 'readKey')
  },
  /** `auth` where each resource is checked, or the response is filtered by the key's access. */
  anyKey: (_mode, caller) => !callers[caller].isAnonymous,
  /** Keys, sessions, passwords: refused for limited keys and extractor keys. */
  account: (_mode, caller) => !callers[caller].isAnonymous && !['extractor', 'readKey', 'otherSpaceKey'].includes(caller),
  /** `admin`: status Admin, or superadmin mode. */
  serverAdmin: (_mode, caller) => callers[caller].isServerAdmin === true,
  /** ViewUser; a key limited to spaces finds no users. */
  lookAround: (mode, caller) => permissionAlone(mode, caller, 'ViewUser') && !callers[caller].isElsewhere,
  /** AddFile; a key limited to spaces can access the uploads that it started itself. */
  placed: (mode, caller) => permissionAlone(mode, caller, 'AddFile') || callers[caller].isElsewhere === true,
  /** Groups: on a private server they are added by their members and server admins; the requested group has no members (docs/security.md). */
  lettingIn: (mode, caller) => !callers[caller].isAnonymous && (mode === 'public' || callers[caller].isServerAdmin === true),
}

/** The words for requirements other than permissions. */
export const wordNames: readonly string[] = Object.keys(words)

/** A word, or a permission without a resource. */
export const onNothing = (mode: Mode, caller: Column, word: string, isReading: boolean): Letter => {
  const isLetIn = words[word]?.(mode, caller, isReading) ?? permissionAlone(mode, caller, word)
  return isLetIn ? 'y' : refusal(caller, true)
}
