import { hash } from 'node:crypto'
import type { NewEvent } from './events.ts'
import type { Kind } from './model/kind.ts'
import { CommitConflict } from './ports/conflicts.ts'
import { eq, type Stored, type Update } from './ports/document-store.ts'
import type { Records } from './ports/records.ts'
import { Conflict, NotFound, Problem } from './problem.ts'

/** 412: the resource no longer matches `If-Match`. Nothing was changed. */
export class ChangedMeanwhile extends Problem {
  constructor(kind: string) {
    super(412, 'changed', `This ${kind} was changed meanwhile: get it again, and send the change with its new ETag in If-Match`)
  }
}

/** The user-editable members of a resource, as far as its kind has them. */
interface Written {
  readonly name: string
  readonly description: string
  readonly license?: unknown
  readonly creators?: readonly string[]
}

/**
 * The version of a resource for `ETag` and `If-Match`: changes whenever user-editable members change, but not with views, tags, uploads or anything else that
 * an editor cannot overwrite. For `If-None-Match` the kernel adds a digest of the body.
 */
const versionOf = (resource: Written): string => {
  const known = versions.get(resource)
  if (known !== undefined) return known
  const { name, description, license, creators } = resource
  const version = hash('sha256', JSON.stringify([name, description, license, creators]), 'base64url').slice(0, 16)
  if (Object.isFrozen(resource)) versions.set(resource, version)
  return version
}

/** Cache for immutable records, as stores keep recently read ones. */
const versions = new WeakMap<Written, string>()

/** The `ETag` header of a response with the resource, for `If-Match` of later changes. */
export const versionTag = (resource: Written): { readonly etag: string } => ({ etag: `"${versionOf(resource)}"` })

/** Longer values of `If-Match` match no version. */
const maxTagsLength = 4096

/**
 * Throws `ChangedMeanwhile` if `If-Match` is present and does not match the resource's version. Weak tags are accepted, since compressing proxies produce them.
 */
export const requireVersion = (ifMatch: string | undefined, kind: Kind, resource: Written): void => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const version = versionOf(resource)
  const tags = ifMatch.length > maxTagsLength ? [] : [...ifMatch.matchAll(/"([^"]*)"/g)]
  if (!tags.some(([, tag = '']) => tag.split('.', 1)[0] === version)) throw new ChangedMeanwhile(kind)
}

const tries = 200

/** Updates user-editable members of a resource, provided that `If-Match`, if present, matches the version being changed. */
export const changeIfMatching = async <T extends Written>(
  records: Records<T>,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  ifMatch: string | undefined,
  update: Update,
  events: readonly NewEvent[],
): Promise<T & Stored> => {
  if (ifMatch === undefined) return records.change(id, update, events)
  for (let left = tries; left > 0; left--) {
    const now = await records.get(id)
    if (!now) throw new NotFound(kind)
    requireVersion(ifMatch, kind, now)
    try {
      return await records.change(id, { ...update, where: eq('revision', now.revision) }, events)
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
  throw new Conflict(`Too many concurrent changes of this ${kind}; try again`)
}
