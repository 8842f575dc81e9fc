import type { After, Find } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { formatRows, type RowPart, type RowQuery } from './row-formatter.ts'
import { type ScanPart, type ScanPlace, scanPart } from './scanning.ts'
import { type Count, countFitting, findPage, type Seek, seekPlace } from './sqlite-reader.ts'
import type { CollectionTable } from './table.ts'

/** A potentially long read, as data, so that it can be sent to a reader thread. */
export type Query =
  | { readonly kind: 'find'; readonly table: CollectionTable; readonly find: Find }
  | { readonly kind: 'count'; readonly table: CollectionTable; readonly count: Count }
  | { readonly kind: 'seek'; readonly table: CollectionTable; readonly seek: Seek }
  | RowQuery
  | { readonly kind: 'scan'; readonly table: CollectionTable; readonly scan: Pick<Find, 'using' | 'where'>; readonly from: ScanPlace }

/** The result of each kind. */
export interface Results {
  readonly find: { readonly texts: readonly string[]; readonly next?: After }
  readonly count: number
  readonly seek: After | null
  readonly scan: ScanPart
  readonly rows: RowPart
}

/** Runs a query; undefined when that takes more than this effort, see `effortOf`. */
export const carryOut = (db: Connection, query: Query, maxCost: number): Results[Query['kind']] | undefined => {
  switch (query.kind) {
    case 'find': {
      const found = findPage(db, query.table, query.find, maxCost)
      return found && { texts: found.texts, ...(found.next ? { next: found.next } : {}) }
    }
    case 'count':
      return countFitting(db, query.table, query.count, maxCost)
    case 'seek':
      return seekPlace(db, query.table, query.seek, maxCost)
    case 'rows':
      return formatRows(db, query)
    case 'scan':
      return scanPart(db, query.table, query.scan, query.from, maxCost)
  }
}
