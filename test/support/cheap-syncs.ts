import fs, { type NoParamCallback } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

// Loaded before each test file. A sync to the disk is for power cuts, which tests do not have, and what servers of tests wait for most: in this process there is
// none. What a failed one leads to is tested with a disk that fails and with servers in processes of their own, which sync as they should.
const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  // To change a new file to WAL is to sync it, before what says that nothing is to be synced.
  const first = /^PRAGMA journal_mode/.test(sql) ? 'PRAGMA synchronous = OFF; ' : ''
  exec.call(this, first + sql.replace(/(?<=PRAGMA synchronous ?= ?)(?:FULL|NORMAL)/, 'OFF'))
}

const synced = (_descriptor: number, done: NoParamCallback): void => void setImmediate(done, null)
Object.assign(fs, { fsync: synced, fdatasync: synced, fsyncSync: () => undefined, fdatasyncSync: () => undefined })
syncBuiltinESMExports()

const handle = await open(import.meta.filename)
Object.assign(Object.getPrototypeOf(handle), { sync: async () => undefined, datasync: async () => undefined })
await handle.close()
