import { blockBytes } from './disk-block-checksums.ts'

const budgetBytes = 64 * 1024 * 1024
/** No transfer moves more at a time. */
export const maxBytes = 1024 * 1024

/** Counts the transfers under way, so that few of them work with large buffers and a thousand still fit into memory. */
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
