import { runInNewContext } from 'node:vm'

type Collect = (options: { readonly type: 'minor' | 'major' }) => void

const collectEvery = 16 * 1024 * 1024

/**
 * Bytes that stream in leave a 64 kB buffer per read behind. V8 hardly counts them, because they are outside its heap: 60 to 80 MB pile up before it
 * clears them away, and the process keeps that memory. Clearing the young generation after each 16 MiB holds a stream of any length at some
 * 20 MB, and is no slower: memory that was just used is used again.
 */
class YoungGarbage {
  #passed = 0
  #parsed = 0
  #collect: Collect | undefined

  /** Says that so many bytes came in. */
  passed(bytes: number): void {
    this.#passed += bytes
    if (this.#passed < collectEvery) return
    this.#passed = 0
    this.#collect ??= collector()
    this.#collect({ type: 'minor' })
  }

  /**
   * Says that so many bytes were parsed whole and are needed no more. What was made of them has grown old meanwhile, and V8 lets some hundred
   * megabytes of that pile up; clearing them takes some 20 ms.
   */
  parsed(bytes: number): void {
    this.#parsed += bytes
    if (this.#parsed < collectEvery / 2) return
    this.#parsed = 0
    this.#collect ??= collector()
    this.#collect({ type: 'major' })
  }
}

/** One per process, which has one heap. Code that forwards streams of bytes reports each piece to it. */
export const youngGarbage = new YoungGarbage()

/** V8's own function, which Node exposes only on request. An extractor that imports the SDK cannot use it: there V8 collects by itself. */
const collector = (): Collect => {
  try {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED') return () => undefined
    throw error
  }
  return runInNewContext('gc') as Collect
}
