import type { Column } from '../callers.ts'
import { callers, holdsByRole, type Thing } from './rights.ts'

/**
 * What lies in the trash is frozen: a trashed dataset or collection, and what hangs on nothing else. `trashed`: the author of the dataset made all of it.
 * `trashedShared`: the editor made what hangs on the dataset. `halfTrashed` is live: the file lies in a live dataset too.
 */
export const isTrashed = ({ state }: Thing): boolean => state === 'trashed' || state === 'trashedShared'

/** Kinds that someone is the author of, or that have the rights of such a resource: not the folder, which has those of its dataset. */
const ofEditor: ReadonlySet<string> = new Set(['file', 'section', 'preview', 'thumbnail', 'metadata', 'comment'])

/** Superadmin mode, the author of the trashed dataset or collection, and that of the resource itself. No role. */
export const seesInTrash = (caller: Column, { kind, state }: Thing): boolean =>
  callers[caller].isSuperAdmin === true || caller === 'author' || (caller === 'editor' && state === 'trashedShared' && ofEditor.has(kind))

/** To restore a resource or delete it for good: what a role gives too, on the trashed thing itself (api-data §0: "if trashed: only DeleteDataset"). */
const clearing: Readonly<Record<string, string>> = { dataset: 'DeleteDataset', collection: 'DeleteCollection' }

export const mayClear = (caller: Column, permission: string, thing: Thing): boolean =>
  clearing[thing.kind] === permission && (seesInTrash(caller, thing) || holdsByRole(caller, permission, thing))
