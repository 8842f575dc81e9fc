import type { BlobStore } from 'pounce/sdk'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import type { FileWriter } from './file-writer.ts'

export type GrowingOptions = Parameters<NonNullable<BlobStore['putGrowing']>>[1]

/** Stores a prefix of a file as a blob at intervals while the file is being written. */
export class PrefixSnapshots {
  readonly #file: FileWriter
  readonly #growth: GrowingOptions
  readonly #keep: (file: FileWriter) => Promise<BlobInfo>
  #dueBytes: number
  #dueMs: number
  #keeping: Promise<void> = Promise.resolve()
  #failure: unknown

  constructor(file: FileWriter, growth: GrowingOptions, keep: (file: FileWriter) => Promise<BlobInfo>) {
    this.#file = file
    this.#growth = growth
    this.#keep = keep
    this.#dueBytes = growth.everyBytes
    this.#dueMs = performance.now() + growth.everyMs
  }

  /** Call this after each write. Waits only when the previous prefix has not been stored yet. */
  async grown(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#file.sizeBytes < this.#dueBytes && performance.now() < this.#dueMs) return
    await this.settled()
    this.#dueBytes = this.#file.sizeBytes + this.#growth.everyBytes
    this.#dueMs = performance.now() + this.#growth.everyMs
    this.#keeping = this.#keepOne().catch(error => {
      this.#failure = error
    })
  }

  /** Resolves when no prefix is being stored; rejects when one could not be. */
  async settled(): Promise<void> {
    await this.#keeping
    if (this.#failure !== undefined) throw this.#failure
  }

  async #keepOne(): Promise<void> {
    await this.#growth.keep(await this.#keep(this.#file))
  }
}
