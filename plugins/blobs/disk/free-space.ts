import { NoSpace } from 'pounce/sdk'
import type { Disk } from './disk.ts'

/** The part of a disk that is kept free: 5 %, but at most 64 MiB. */
const reservedShare = 0.05
const maxReservedBytes = 64 * 1024 * 1024

/** Others write to the disk, too. */
const validMs = 1000

/** Keeps a part of the disk free of blobs: on a full disk the database could not write either, and no deletion would succeed. */
export class FreeSpace {
  readonly #disk: Disk
  readonly #folder: string
  #availableBytes = 0
  #measuredMs = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | undefined

  constructor(disk: Disk, folder: string) {
    this.#disk = disk
    this.#folder = folder
  }

  /** Counts bytes that are going to be written. Rejects with `NoSpace` if they do not fit. */
  async take(bytes: number): Promise<void> {
    if (this.#availableBytes < bytes || performance.now() - this.#measuredMs > validMs) {
      this.#measuring ??= this.#measure().finally(() => {
        this.#measuring = undefined
      })
      await this.#measuring
    }
    if (this.#availableBytes < bytes) throw new NoSpace()
    this.#availableBytes -= bytes
  }

  async #measure(): Promise<void> {
    const { freeBytes, sizeBytes } = await this.#disk.space(this.#folder)
    this.#availableBytes = freeBytes - Math.min(maxReservedBytes, sizeBytes * reservedShare)
    this.#measuredMs = performance.now()
  }
}
