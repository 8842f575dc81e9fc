import { type Find, matcher } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { effortOf } from './effort.ts'
import { plansOf } from './planner.ts'
import { countRows, documentText, type Place, rowsOf } from './stream.ts'
import type { Table } from './table.ts'

/** What `count` takes. */
export type Count = Pick<Find, 'using' | 'where'> & { readonly upTo: number }

/** Index entries are counted this much faster than documents are read. */
const entriesPerRow = 10

/** How many documents fit, up to `upTo`; undefined when counting them takes more than this effort, see `effortOf`. */
export const countFitting = (db: Connection, table: Table, { using, where, upTo }: Count, effort: number): number | undefined => {
  const { main } = plansOf(table, using, where, { sort: undefined, isOrderFree: true })
  const [only] = main.streams
  if (main.isExact && main.streams.length === 1 && only && !only.shape.repeats) {
    return upTo > effort * entriesPerRow ? undefined : countRows(db, table, only, upTo)
  }
  const fits = matcher(where)
  const seen = new Set<number>()
  const mayRepeat = main.streams.length > 1 || only?.shape.repeats === true
  let count = 0
  let left = effort
  for (const stream of main.streams) {
    let after: Place | undefined
    do {
      const limit = 200
      const rows = rowsOf(db, table, stream, { after, isDescending: false, limit, documents: true })
      for (const row of rows) {
        const id = row.at(-2) as number
        if (seen.has(id)) continue
        if (mayRepeat) seen.add(id)
        if (left <= 0) return undefined
        const text = documentText(db, table, row)
        if (text === undefined) continue
        left -= effortOf(text)
        if (fits(JSON.parse(text)) && ++count === upTo) return count
      }
      after = rows.length < limit ? undefined : (rows.at(-1)?.slice(0, -2) as Place)
    } while (after !== undefined)
  }
  return count
}
