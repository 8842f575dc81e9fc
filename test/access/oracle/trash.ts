import type { Column } from '../callers.ts'
import { callers, holdsByRole, type Thing } from './rights.ts'

/**
 * The trash is frozen: a trashed dataset or collection, and what belongs to nothing else. `trashed`: everything was created by the dataset's author.
 * `trashedShared`: the contents were created by the editor. `halfTrashed` is live: the file is also in a live dataset.
 */
export const isTrashed = ({ state }: Thing): boolean => state === 'trashed' || state === 'trashedShared'

/** Kinds that have an author, or the rights of a resource with an author: not folders, which have the rights of their dataset. */
const ofEditor: ReadonlySet<string> = new Set(['file', 'section', 'preview', 'thumbnail', 'metadata', 'comment'])

/** Visible in superadmin mode, and to the authors of the trashed dataset or collection and of the resource itself. Roles do not count. */
export const seesInTrash = (caller: Column, { kind, state }: Thing): boolean =>
  callers[caller].isSuperAdmin === true || caller === 'author' || (caller === 'editor' && state === 'trashedShared' && ofEditor.has(kind))

/** Permissions to restore or purge, which roles also grant, on the trashed resource itself (api-data §0: "if trashed: only DeleteDataset"). */
const clearing: Readonly<Record<string, string>> = { dataset: 'DeleteDataset', collection: 'DeleteCollection' }

export const mayClear = (caller: Column, permission: string, thing: Thing): boolean =>
  clearing[thing.kind] === permission && (seesInTrash(caller, thing) || holdsByRole(caller, permission, thing))
