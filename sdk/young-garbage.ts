import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { readonly type: 'minor' }) => void

const collectEvery = 16 * 1024 * 1024

/**
 * Bytes that stream in leave a 64 kB buffer per read behind. V8 hardly notices them, because they lie outside its heap: 60 to 80 MB pile up before it
 * clears them away, and the process keeps that memory. Clearing the young generation after each 16 MiB holds a stream of any length at some
 * 20 MB, and is no slower: memory that was just used is used again.
 */
class YoungGarbage {
  #passed = 0
  #collect: Collect | undefined

  /** Says that so many bytes came in. */
  passed(bytes: number): void {
    this.#passed += bytes
    if (this.#passed < collectEvery) return
    this.#passed = 0
    this.#collect ??= collector()
    this.#collect({ type: 'minor' })
  }
}

/** Of the process, whose heap there is one of. Whoever passes streams of bytes on tells it of each piece. */
export const youngGarbage = new YoungGarbage()

/** V8's own function, which Node shows only to those who ask for it. */
const collector = (): Collect => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
