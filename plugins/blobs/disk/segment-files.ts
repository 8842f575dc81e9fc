import { access, type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './disk.ts'

interface OpenSegment {
  readonly handle: Promise<FileHandle | undefined>
  users: number
  isRetired: boolean
}

const keptOpen = 64

/** Segments opened for reading, cached for later reads. A handle is closed only when no read is using it. */
export class SegmentFiles {
  readonly #folder: string
  /** Least recently used first. */
  readonly #open = new Map<string, OpenSegment>()

  constructor(folder: string) {
    this.#folder = folder
  }

  pathOf(segment: string): string {
    return join(this.#folder, `${segment}.segment`)
  }

  /** Runs the work on an open segment; undefined when there is no such segment. */
  async use<T>(segment: string, work: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
    const entry = this.#take(segment)
    entry.users += 1
    try {
      const file = await entry.handle
      if (!file) this.#forget(segment, entry)
      return file && (await work(file))
    } catch (error) {
      this.#forget(segment, entry)
      throw error
    } finally {
      entry.users -= 1
      if (entry.users === 0 && entry.isRetired) await this.#close(entry)
    }
  }

  /** Called when the segment's file was replaced or deleted: the next read reopens it. */
  async retire(segment: string): Promise<void> {
    const entry = this.#open.get(segment)
    if (!entry) return
    this.#forget(segment, entry)
    if (entry.users === 0) await this.#close(entry)
  }

  async dispose(): Promise<void> {
    for (const segment of [...this.#open.keys()]) await this.retire(segment)
  }

  #take(segment: string): OpenSegment {
    const known = this.#open.get(segment)
    const entry = known ?? { handle: this.#tryOpen(segment), users: 0, isRetired: false }
    this.#open.delete(segment)
    this.#open.set(segment, entry)
    if (this.#open.size > keptOpen) this.#closeIdle()
    return entry
  }

  /** A missing file means an absent segment only while the folder exists: an unmounted disk has no files either. */
  async #tryOpen(segment: string): Promise<FileHandle | undefined> {
    try {
      return await open(this.pathOf(segment), 'r')
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      await access(this.#folder)
      return undefined
    }
  }

  #closeIdle(): void {
    for (const [segment, entry] of this.#open) {
      if (entry.users > 0) continue
      this.#forget(segment, entry)
      // Nothing was written through it, so an error on close is irrelevant.
      this.#close(entry).catch(() => undefined)
      return
    }
  }

  #forget(segment: string, entry: OpenSegment): void {
    entry.isRetired = true
    if (this.#open.get(segment) === entry) this.#open.delete(segment)
  }

  async #close(entry: OpenSegment): Promise<void> {
    const file = await entry.handle.catch(() => undefined)
    await file?.close()
  }
}
