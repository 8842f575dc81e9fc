import { requestFailed } from '../lib/request-failed.ts'

const blockBytes = 256 * 1024
const maxBlocks = 256

const failed = (message: string): Error => Object.assign(new Error(message), { name: requestFailed })

/** Reads the bytes of a URL by ranges, synchronously, as the library requires: in a worker only. Recently read data is cached, up to 64 MiB. */
export class RemoteBytes {
  readonly sizeBytes: number
  /** The last request that failed; the libraries report it as an error in the file. */
  failure: Error | undefined
  #url: string
  #onRequest: () => void
  #blocks = new Map<number, Uint8Array>()

  constructor(url: string, sizeBytes: number, onRequest: () => void) {
    this.#url = url
    this.sizeBytes = sizeBytes
    this.#onRequest = onRequest
  }

  read(start: number, length: number): Uint8Array {
    const end = Math.min(this.sizeBytes, start + length)
    if (end <= start) return new Uint8Array()
    const first = Math.floor(start / blockBytes)
    const last = Math.floor((end - 1) / blockBytes)
    this.#load(first, last)
    const bytes = new Uint8Array(end - start)
    for (let block = first; block <= last; block++) {
      const from = block * blockBytes
      const found = this.#blocks.get(block) as Uint8Array
      const part = found.subarray(Math.max(0, start - from), Math.min(found.length, end - from))
      bytes.set(part, Math.max(0, from - start))
    }
    this.#shrink()
    return bytes
  }

  /** Loads the missing blocks, adjacent ones in one request. */
  #load(first: number, last: number): void {
    let block = first
    while (block <= last) {
      const known = this.#blocks.get(block)
      if (known) {
        this.#blocks.delete(block)
        this.#blocks.set(block, known)
        block++
        continue
      }
      let until = block
      while (until < last && !this.#blocks.has(until + 1)) until++
      const bytes = this.#request(block * blockBytes, Math.min(this.sizeBytes, (until + 1) * blockBytes))
      for (let at = block; at <= until; at++) this.#blocks.set(at, bytes.slice((at - block) * blockBytes, (at - block + 1) * blockBytes))
      block = until + 1
    }
  }

  #request(start: number, end: number): Uint8Array {
    this.#onRequest()
    const request = new XMLHttpRequest()
    request.open('GET', this.#url, false)
    request.responseType = 'arraybuffer'
    request.setRequestHeader('range', `bytes=${start}-${end - 1}`)
    try {
      request.send()
      const isWhole = request.status === 200 && start === 0 && end === this.sizeBytes
      if (request.status !== 206 && !isWhole) throw new Error(`The server answered ${request.status}`)
      return new Uint8Array(request.response as ArrayBuffer)
    } catch (error) {
      this.failure = failed(String(error))
      throw this.failure
    }
  }

  #shrink(): void {
    for (const block of this.#blocks.keys()) {
      if (this.#blocks.size <= maxBlocks) return
      this.#blocks.delete(block)
    }
  }
}
