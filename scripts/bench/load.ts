import net from 'node:net'

/** Returns the bytes of the next request of a connection. */
export type NextRequest<S> = (state: S) => Buffer

export interface Measured {
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly errors: number
}

interface LoadOptions<S> {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Excluded from the measurement. */
  readonly warmUpSeconds?: number
  newState(connection: number): S
  next: NextRequest<S>
  /** Called for each response; the body only if `wantsBody`. */
  got?(state: S, status: number, body: string): void
  readonly wantsBody?: boolean
}

/** A serialized HTTP request. */
export const request = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: Buffer | string): Buffer => {
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const lines = Object.entries({ host: 'bench', ...headers, ...(bytes ? { 'content-length': String(bytes.length) } : {}) })
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return bytes ? Buffer.concat([Buffer.from(head), bytes]) : Buffer.from(head)
}

/** A multipart body with one file, and its content type. */
export const onePart = (filename: string, type: string, bytes: Buffer): { readonly type: string; readonly body: Buffer } => {
  const boundary = 'pounce-bench-boundary'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Parses one response with a Content-Length; the measured servers do not use chunked encoding for these requests. */
const answerIn = (bytes: Buffer): { readonly status: number; readonly bodyAt: number; readonly end: number } | undefined => {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const text = bytes.toString('latin1', 0, head)
  const length = /content-length: *(\d+)/i.exec(text)?.[1]
  const bodyAt = head + 4
  if (length === undefined) {
    const isWhole = bytes.length >= bodyAt + 5 && bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n'
    return isWhole ? { status: Number(text.slice(9, 12)), bodyAt, end: bytes.length } : undefined
  }
  const end = bodyAt + Number(length)
  return bytes.length >= end ? { status: Number(text.slice(9, 12)), bodyAt, end } : undefined
}

/** Keeps one request in flight on each connection for the given time. */
export const load = <S>(options: LoadOptions<S>): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const latencies: number[] = []
    let errors = 0
    let isCounting = false
    let isOver = false
    let open = options.connections
    const finish = (): void => {
      latencies.sort((a, b) => a - b)
      resolve({
        requestsPerSecond: latencies.length / options.seconds,
        p50: percentile(latencies, 0.5),
        p95: percentile(latencies, 0.95),
        p99: percentile(latencies, 0.99),
        errors,
      })
    }
    const run = (connection: number): void => {
      const state = options.newState(connection)
      const socket = net.connect(options.port, '127.0.0.1')
      let pending = Buffer.alloc(0)
      let sentAt = 0
      const send = (): void => {
        if (isOver) return void socket.destroy()
        sentAt = performance.now()
        socket.write(options.next(state))
      }
      socket.setNoDelay(true)
      socket.on('connect', send)
      socket.on('data', chunk => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
        const answer = answerIn(pending)
        if (!answer) return
        if (answer.status >= 400) errors += 1
        options.got?.(state, answer.status, options.wantsBody ? pending.toString('utf8', answer.bodyAt, answer.end) : '')
        if (isCounting) latencies.push(performance.now() - sentAt)
        pending = Buffer.alloc(0)
        send()
      })
      socket.on('error', error => (isOver ? undefined : reject(error)))
      socket.on('close', () => {
        open -= 1
        if (open === 0 && isOver) finish()
      })
    }
    for (let connection = 0; connection < options.connections; connection += 1) run(connection)
    const warmUpMs = (options.warmUpSeconds ?? 1) * 1000
    setTimeout(() => {
      isCounting = true
    }, warmUpMs)
    setTimeout(
      () => {
        isCounting = false
        isOver = true
      },
      warmUpMs + options.seconds * 1000,
    )
  })
