import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEveryMs = 1000
/** Of that time; less is a server that nobody waits for. */
const busyShare = 0.1

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/** Only a context that is made after the flag has `gc`. */
const exposedCollect = (): Collect => {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc') as Collect
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/**
 * Gives back to the system what a start leaves behind: a quarter of the heap, which V8 would keep for as long as nothing needs the room. It takes
 * 60 ms, on a busy machine 300, in which nothing is answered, so it is done once, after the first second in which little happens.
 */
export const releaseStartupMemory = (): void => {
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before)
    before = performance.eventLoopUtilization()
    if (utilization > busyShare) return
    clearInterval(timer)
    exposedCollect()({ type: 'major', flavor: 'last-resort' })
  }, lookEveryMs).unref()
}
