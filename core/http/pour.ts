import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

type Chunk = Buffer | string

/** Where bytes go, and who hears of it. */
export interface Pouring {
  readonly res: ServerResponse
  /** Known number of bytes. */
  readonly length: number | undefined
  /** Writes the head; called with the first bytes. */
  head(): void
  /** The answer was cut in its middle. */
  brokeOff(error: unknown): void
}

/**
 * Writes a stream as the body of an answer, and resolves when the answer is complete or its client is gone. A source that fails before its first
 * bytes rejects, so that it can still be answered with a problem. One that fails later, or ends before or after `length`, cuts the
 * connection: nobody may take a part for the whole.
 */
export const pour = (source: Readable, pouring: Pouring): Promise<void> =>
  new Promise((resolve, reject) => {
    const { res, length } = pouring
    let sent = 0
    // The last of a known number of bytes wait for the source's end, where it may find out that what it gave was damaged.
    let held: Chunk | undefined
    let isOver = false
    const fail = (error: unknown): void => {
      if (isOver) return
      isOver = true
      source.destroy()
      if (!res.headersSent && !res.destroyed) {
        reject(error)
        return
      }
      if (!res.destroyed) {
        pouring.brokeOff(error)
        res.destroy()
      }
      resolve()
    }
    /** False when the head could not be written: a header of a handler may be wrong. */
    const isBegun = (): boolean => {
      try {
        if (!res.headersSent) pouring.head()
        return true
      } catch (error) {
        fail(error)
        return false
      }
    }
    source.on('data', (chunk: Chunk) => {
      sent += Buffer.byteLength(chunk)
      if (sent === length) {
        held ??= chunk
      } else if (length !== undefined && sent > length) {
        fail(new Error(`more than the ${length} bytes that were announced`))
      } else if (!isOver && isBegun() && !res.write(chunk)) {
        source.pause()
      }
    })
    source.on('end', () => {
      if (isOver) return
      if (length !== undefined && sent !== length) {
        fail(new Error(`${sent} bytes instead of ${length}`))
        return
      }
      if (!isBegun()) return
      isOver = true
      res.end(held)
      resolve()
    })
    source.on('error', fail)
    source.on('close', () => {
      if (!isOver) fail(new Error('the source was closed before its end'))
    })
    res.on('drain', () => source.resume())
    res.on('close', () => {
      // After the end this resolves nothing and destroys nothing.
      if (!isOver) fail(undefined)
    })
  })
