import type { IncomingMessage, ServerResponse } from 'node:http'
import { anonymous, type Caller } from 'pounce/sdk'
import type { Mount } from './mount.ts'
import { type RequestLine, requestLine } from './request-line.ts'

/** One request and its answer, from the first line to the last byte. */
export class Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Names this request in the answer and in the log. */
  readonly id: string
  readonly line: RequestLine
  readonly startedMs = performance.now()
  mount: Mount | undefined
  caller: Caller = anonymous
  /** Set while the client waits for `100 Continue` before it sends its body. */
  isContinueDue: boolean
  /** A session cookie that turned out to be wrong: the answer takes it away. */
  hasStaleSession = false
  #controller: AbortController | undefined
  #isAborted = false

  constructor(req: IncomingMessage, res: ServerResponse, id: string) {
    this.req = req
    this.res = res
    this.id = id
    this.line = requestLine(req.url ?? '/')
    this.isContinueDue = continueDue.delete(req)
    // From here on nobody sees the key, not even in an error of somebody else's code.
    if (this.line.key !== undefined) req.url = this.line.search ? `${this.line.path}?${this.line.search}` : this.line.path
  }

  get isHead(): boolean {
    return this.req.method === 'HEAD'
  }

  /** Aborted when the client goes away before the answer is complete, or when the server stops. Made when first asked for. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }

  /** True when the request has a body of which not all bytes came. */
  get isBodyOpen(): boolean {
    const { headers, complete } = this.req
    return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
  }

  /** Tells a waiting client to send its body. */
  invite(): void {
    if (!this.isContinueDue) return
    this.isContinueDue = false
    this.res.writeContinue()
  }
}

const continueDue = new WeakSet<IncomingMessage>()

/** Marks a request whose client waits for `100 Continue`. */
export const markContinueDue = (req: IncomingMessage): void => {
  continueDue.add(req)
}
