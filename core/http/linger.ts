import type { Exchange } from './exchange.ts'

/** How much of an unwanted body is taken and thrown away, so that a client which reads only after it has sent sees the answer. */
const lingerBytes = 64 * 1024 * 1024
const lingerMs = 10_000

/**
 * Ends an answer that was given before the request's body had come. Closing at once would reset the connection and lose the answer on its
 * way, so the rest is read for a while first.
 */
export const endAfterRequest = ({ req, res, isContinueDue }: Exchange): void => {
  // Who waits for `100 Continue` sends nothing after a final answer.
  if (isContinueDue || req.destroyed) {
    res.end()
    return
  }
  let left = lingerBytes
  const end = (): void => {
    clearTimeout(timer)
    req.off('data', count)
    res.end()
  }
  const count = (chunk: Buffer): void => {
    left -= chunk.length
    if (left < 0) end()
  }
  const timer = setTimeout(end, lingerMs)
  req.unpipe()
  req.on('data', count)
  req.once('end', end)
  req.once('close', end)
  req.resume()
}
