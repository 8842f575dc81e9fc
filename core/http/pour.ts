import type { ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { worthCompressing } from './compression.ts'

type Chunk = Buffer | string

/** How long the first bytes wait for others, until they are enough to be worth compressing. */
const holdMs = 50

/** Where bytes go, and who hears of it. */
export interface Pouring {
  readonly res: ServerResponse
  /** Known number of bytes. */
  readonly length: number | undefined
  /** The head waits a moment, until it is known whether there are enough bytes to be worth compressing. */
  readonly mayCompress: boolean
  /** Writes the head, and says where the bytes go. */
  begin(isGzip: boolean): Writable
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
    const { res, length, mayCompress } = pouring
    let sent = 0
    let out: Writable | undefined
    const first: Chunk[] = []
    // The last of a known number of bytes wait for the source's end, where it may find out that what it gave was damaged.
    let held: Chunk | undefined
    let isOver = false
    let holding: NodeJS.Timeout | undefined
    const fail = (error: unknown): void => {
      if (isOver) return
      isOver = true
      clearTimeout(holding)
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
    /** Nowhere when the head could not be written: a header of a handler may be wrong. */
    const begun = (isLong: boolean): Writable | undefined => {
      if (out) return out
      clearTimeout(holding)
      try {
        out = pouring.begin(mayCompress && isLong)
      } catch (error) {
        fail(error)
        return undefined
      }
      out.on('drain', () => source.resume())
      for (const chunk of first) out.write(chunk)
      return out
    }
    source.on('data', (chunk: Chunk) => {
      sent += Buffer.byteLength(chunk)
      if (sent === length) {
        held ??= chunk
      } else if (length !== undefined && sent > length) {
        fail(new Error(`more than the ${length} bytes that were announced`))
      } else if (isOver) {
        return
      } else if (mayCompress && !out && sent <= worthCompressing) {
        first.push(chunk)
        holding ??= setTimeout(begun, holdMs, true)
      } else if (begun(true)?.write(chunk) === false) {
        source.pause()
      }
    })
    source.on('end', () => {
      if (isOver) return
      if (length !== undefined && sent !== length) {
        fail(new Error(`${sent} bytes instead of ${length}`))
        return
      }
      const to = begun(false)
      if (!to) return
      isOver = true
      to.end(held)
      resolve()
    })
    source.on('error', fail)
    source.on('close', () => {
      if (!isOver) fail(new Error('the source was closed before its end'))
    })
    res.on('close', () => {
      // After the end this resolves nothing and destroys nothing.
      if (!isOver) fail(undefined)
    })
  })
