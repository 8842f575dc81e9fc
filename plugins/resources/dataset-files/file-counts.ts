import { type After, type ContentCount, Files, type Ref, wire } from 'pounce/sdk'

/** How many files lie right in a dataset or folder. */
export class FileCounts implements ContentCount {
  readonly kind = 'file'
  #files: Files

  constructor(files: Files) {
    this.#files = files
  }

  async countIn({ kind, id }: Ref, upTo = 10_000): Promise<number> {
    if (kind !== 'dataset' && kind !== 'folder') return 0
    let count = 0
    let after: After | undefined
    do {
      const page = await this.#files.in(id, { limit: Math.min(upTo - count, 1000), ...(after ? { after } : {}) })
      count += page.items.length
      after = page.next
    } while (after && count < upTo)
    return count
  }
}
wire(FileCounts, Files)
