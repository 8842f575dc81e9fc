import { blockBytes } from './disk-block-checksums.ts'

const budgetBytes = 64 * 1024 * 1024
/** Maximum bytes that a transfer moves at a time. */
export const maxBytes = 1024 * 1024

/** Counts active transfers, so that few of them get large buffers and a thousand still fit into memory. */
export class Transfers {
  #open = 0

  begin(): void {
    this.#open += 1
  }

  end(): void {
    this.#open -= 1
  }

  /** How many bytes one transfer should move at a time: 64 KiB to 1 MiB, whole blocks. */
  windowBytes(): number {
    const share = Math.floor(budgetBytes / Math.max(this.#open, 1) / blockBytes) * blockBytes
    return Math.min(Math.max(share, blockBytes), maxBytes)
  }
}
