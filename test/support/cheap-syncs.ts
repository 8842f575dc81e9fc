import fs, { type NoParamCallback } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

// Loaded before each test file. Disables syncs to disk in this process: they only protect against power failures, and servers under test spend most of
// their time waiting for them. Failed syncs are tested with a failing disk and with servers in separate processes, which sync normally.
const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  // Switching a new file to WAL syncs it, before the store's own pragma can disable syncs.
  const first = /^PRAGMA journal_mode/.test(sql) ? 'PRAGMA synchronous = OFF; ' : ''
  exec.call(this, first + sql.replace(/(?<=PRAGMA synchronous ?= ?)(?:FULL|NORMAL)/, 'OFF'))
}

const synced = (_descriptor: number, done: NoParamCallback): void => void setImmediate(done, null)
Object.assign(fs, { fsync: synced, fdatasync: synced, fsyncSync: () => undefined, fdatasyncSync: () => undefined })
syncBuiltinESMExports()

const handle = await open(import.meta.filename)
Object.assign(Object.getPrototypeOf(handle), { sync: async () => undefined, datasync: async () => undefined })
await handle.close()
