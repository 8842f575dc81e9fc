import { DatabaseSync } from 'node:sqlite'

/** Makes SQLite fail with this result code, until disposed of, for databases in a folder: disks cannot be filled in tests. */
export const failingDatabases = (folder: string, errcode: number): Disposable => {
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    if (this.location()?.startsWith(folder)) throw Object.assign(new Error('disk I/O error'), { errcode })
    exec.call(this, sql)
  }
  return {
    [Symbol.dispose]: () => {
      DatabaseSync.prototype.exec = exec
    },
  }
}
