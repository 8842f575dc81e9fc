import { setPriority } from 'node:os'
import type { DatabaseCheck, DatabaseFindings } from './database-doctor.ts'
import { Connection, sqliteCodeOf, sqliteCodes } from './sqlite.ts'

/** The process that checks a database for `pounce doctor`. Its argument is a `DatabaseCheck`; it prints `DatabaseFindings`. */

const maxMessages = 20
const cacheMiB = 16
/** A third of the weight of the server. */
const niceness = 5

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The structure of the file, and with `isRead` its indexes. Virtual tables (FTS5, R*Tree) are included. */
const structureOf = (connection: Connection, isRead: boolean): readonly string[] =>
  connection
    .all(`PRAGMA ${isRead ? 'integrity_check' : 'quick_check'}(${maxMessages})`)
    .flatMap(([message]) => String(message).split('\n'))
    .filter(message => message !== 'ok' && !message.startsWith('*** in database'))

/** SQLite stores no checksums: overwritten text is found by parsing it. */
const valuesOf = (connection: Connection, jsonColumns: readonly string[]): readonly string[] =>
  connection
    .all(
      `SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c, json_each(?) j
       WHERE t.type = 'table' AND t.schema = 'main' AND j.value IN (c.name, t.name || '.' || c.name)`,
      JSON.stringify(jsonColumns),
    )
    .flatMap(([table, column]) => {
      const [name, value] = [quoted(String(table)), quoted(String(column))]
      const [count] = connection.get(`SELECT count(*) FROM ${name} WHERE ${value} <> '' AND NOT json_valid(${value})`) ?? []
      return count === 0 ? [] : [`${count} values of ${table}.${column} are not JSON`]
    })

/** Errors of the disk, the access rights or other programs; all others mean a damaged file. */
const { busy, locked, readOnly, ioError, full, cannotOpen } = sqliteCodes
const otherCodes: readonly (number | undefined)[] = [busy, locked, readOnly, ioError, full, cannotOpen, undefined]

const check = ({ file, isRead, jsonColumns }: DatabaseCheck): DatabaseFindings => {
  try {
    const connection = new Connection({ file, readOnly: true, cacheMiB, maxSizeMiB: 0 })
    const messages = connection.snapshot(() => {
      const found = structureOf(connection, isRead)
      return found.length === 0 && isRead ? valuesOf(connection, jsonColumns) : found
    })
    connection.close()
    return { isDamage: true, messages }
  } catch (error) {
    return { isDamage: !otherCodes.includes(sqliteCodeOf(error)), messages: [error instanceof Error ? error.message : String(error)] }
  }
}

setPriority(niceness)
process.stdout.write(JSON.stringify(check(JSON.parse(process.argv[2] ?? '') as DatabaseCheck)))
