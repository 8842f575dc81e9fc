import { afterParameter, type Caller, type Policy, type Stored, s } from 'pounce/sdk'

/** What the lists of all previews and of all thumbnails ask for. */
export const listQuery = s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() })

/** Those of a page that the caller may see. */
export const seenOf = async <T extends Stored>(
  policy: Policy,
  caller: Caller,
  kind: 'preview' | 'thumbnail',
  items: readonly T[],
): Promise<readonly T[]> => {
  const ids = items.map(({ id }) => id)
  const allowed = await policy.allowed(caller, 'ViewFile', kind, ids)
  return items.filter(({ id }) => allowed.has(id))
}
