import { type After, type FileRecord, type FolderRecord, Invalid, type Stored } from 'pounce/sdk'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import type { EntrySort } from './entry-order.ts'

type Folder = FolderRecord & Stored
type File = FileRecord & Stored

/** A query for the entries of a dataset. */
export interface EntryListQuery {
  readonly dataset: string
  readonly folder: string | undefined
  readonly recursive: boolean
  readonly sort: EntrySort
  readonly order: 'ascending' | 'descending'
  readonly filter: string | undefined
  readonly skip: number
  readonly after: EntryCursor | undefined
  readonly limit: number
}

/** The end of a page of entries. */
export interface EntryCursor {
  readonly kind: 'folder' | 'file'
  /** Sort key and id of its last entry; if absent, the next page begins with the first entry of this kind. */
  readonly after?: readonly [key: string | number, id: string]
}

/** A page of entries as found by one of the lists. */
export interface EntryRows {
  readonly rows: readonly EntryRow[]
  readonly next: EntryCursor | undefined
  readonly total: number | null
  readonly totalBytes: number | null
}

/** An entry as shown, without the name of its author. */
export type EntryRow = ReturnType<typeof folderRow> | ReturnType<typeof fileRow>

export const folderRow = ({ id, displayName, created, author, parent }: Folder, path: readonly string[] | undefined, entries: number) => ({
  ...{ id, kind: 'folder' as const, name: displayName, size: null, type: null, created, author, status: null, thumbnail: null },
  ...{ folder: parent.kind === 'folder' ? parent.id : null, entries },
  ...(path ? { path: [...path] } : {}),
})

export const fileRow = (file: File, folder: string | null, path: readonly string[] | undefined) => {
  const { id, name, sizeBytes: size, contentType: type, created, author, status, thumbnail } = file
  return {
    ...{ id, kind: 'file' as const, name, size, type, created, author, status, thumbnail },
    ...{ folder, entries: null },
    ...(path ? { path: [...path] } : {}),
  }
}

/** Throws `Invalid` for a cursor that does not come from a page. */
export const readCursor = (text: string): EntryCursor => {
  try {
    const { kind, after } = parseJson(Buffer.from(text, 'base64url'), defaultJsonLimits) as EntryCursor
    const isKind = kind === 'folder' || kind === 'file'
    if (isKind && after === undefined) return { kind }
    if (isKind && Array.isArray(after) && after.length === 2) {
      const [key, id] = after as After
      if ((typeof key === 'string' || typeof key === 'number') && typeof id === 'string') return { kind, after: [key, id] }
    }
  } catch (error) {
    throw new Invalid('after must be a cursor from a Link header', { cause: error })
  }
  throw new Invalid('after must be a cursor from a Link header')
}

export const writeCursor = (cursor: EntryCursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url')
