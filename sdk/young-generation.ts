import { runInNewContext } from 'node:vm'

type Collect = (options: { readonly type: 'minor' | 'major' }) => void

const collectEvery = 16 * 1024 * 1024

/**
 * Streamed bytes leave a 64 kB buffer behind per read. V8 barely accounts for them, because they are outside its heap: 60 to 80 MB accumulate before a
 * collection, and the process keeps that memory. A minor collection after each 16 MiB limits streams of any length to about 20 MB and costs no speed, because
 * recently used memory is reused.
 */
class YoungGeneration {
  #passed = 0
  #parsed = 0
  #collect: Collect | undefined

  /** Reports the number of bytes received. */
  passed(bytes: number): void {
    this.#passed += bytes
    if (this.#passed < collectEvery) return
    this.#passed = 0
    this.#collect ??= collector()
    this.#collect({ type: 'minor' })
  }

  /**
   * Reports the number of bytes that were parsed as a whole and are no longer needed. The resulting objects are in the old generation by now, where V8 lets
   * some hundred megabytes accumulate; a major collection takes about 20 ms.
   */
  parsed(bytes: number): void {
    this.#parsed += bytes
    if (this.#parsed < collectEvery / 2) return
    this.#parsed = 0
    this.#collect ??= collector()
    this.#collect({ type: 'major' })
  }
}

/** One per process, like the heap. Code that forwards byte streams reports each chunk to it. */
export const youngGeneration = new YoungGeneration()

/** V8's own function, which Node exposes only on request. An extractor that imports the SDK may not use it; there V8 collects on its own schedule. */
const collector = (): Collect => {
  try {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED') return () => undefined
    throw error
  }
  return runInNewContext('gc') as Collect
}
