import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const pointerName = 'current'
const form = /^index-(\d+)\.db$/

/** The database files of the folder; the file `current` contains the name of the one in use. */
export class IndexFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  make(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
  }

  /** Name of the index in use; undefined when there is none yet. */
  current(): string | undefined {
    try {
      const name = readFileSync(join(this.path, pointerName), 'utf8').trim()
      return form.test(name) ? name : undefined
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  /** An unused file name. */
  unused(): string {
    const numbers = readdirSync(this.path).map(name => Number(form.exec(name)?.[1] ?? 0))
    return `index-${Math.max(0, ...numbers) + 1}.db`
  }

  pathOf(name: string): string {
    return join(this.path, name)
  }

  /** Makes this the index in use; durable when it returns. */
  use(name: string): void {
    const next = join(this.path, `${pointerName}.new`)
    writeFileSync(next, `${name}\n`, { flush: true })
    renameSync(next, join(this.path, pointerName))
    const folder = openSync(this.path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  /** Deletes every index but this one. */
  keepOnly(name: string): void {
    for (const each of readdirSync(this.path)) {
      if (/^index-\d+\.db(-wal|-shm)?$/.test(each) && each.replace(/-(wal|shm)$/, '') !== name) this.remove(each)
    }
  }

  /** Deletes one index. */
  remove(name: string): void {
    for (const end of ['', '-wal', '-shm']) rmSync(join(this.path, `${name}${end}`), { force: true })
  }
}
