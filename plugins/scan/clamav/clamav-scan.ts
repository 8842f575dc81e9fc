import { addAbortSignal, type Readable } from 'node:stream'
import { Invalid, Log, type MalwareScan, Problem, Unavailable, wire } from 'pounce/sdk'
import { type ScanResult, Semaphore } from 'pounce/sdk/kit'
import { type ClamdAddress, ClamdConnection } from './clamd-connection.ts'
import { type ClamavConfig, Config } from './config.ts'

/** The quarantine name of files that are too large to be scanned. */
const tooLarge = 'Pounce.TooLargeToScan'

type Options = NonNullable<Parameters<MalwareScan['scan']>[1]>

/** A path, or `tcp://host:port`. */
const clamdAddress = (socket: string): ClamdAddress => {
  if (socket.startsWith('/')) return { path: socket }
  const url = URL.canParse(socket) ? new URL(socket) : undefined
  if (url?.protocol !== 'tcp:' || url.hostname === '') {
    throw new Invalid(`scan.clamav.socket must be the path of a Unix socket, or a URL such as tcp://localhost:3310, not ${socket}`)
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 3310) }
}

/** Scans bytes by streaming them to clamd (INSTREAM). */
export class ClamavScan implements MalwareScan {
  readonly unpacksArchives = true
  readonly #config: ClamavConfig
  readonly #maxScanBytes: number
  readonly #connections: Semaphore
  readonly #log: Log

  constructor(config: ClamavConfig, log: Log) {
    this.#config = config
    this.#maxScanBytes = config.maxScanMiB * 1024 * 1024
    this.#connections = new Semaphore({ max: config.maxConnections })
    this.#log = log
  }

  /** The server itself may be unavailable: files wait for it. */
  start(): void {
    clamdAddress(this.#config.socket)
  }

  /** Resolves when clamd responds. */
  async health(): Promise<void> {
    await this.#ping()
  }

  /** Program and signatures, as reported by clamd. */
  version(): Promise<string> {
    return this.#connected(AbortSignal.timeout(this.#config.connectTimeoutMs), connection => connection.ask('VERSION'))
  }

  async scan(bytes: Readable, { sizeBytes, signal }: Options = {}): Promise<ScanResult> {
    // A reader gets the error; otherwise it is ignored.
    bytes.on('error', () => undefined)
    try {
      signal?.throwIfAborted()
      if (sizeBytes !== undefined && sizeBytes > this.#maxScanBytes) return this.#larger()
      const release = await this.#connections.acquire(signal)
      try {
        await this.#ping(signal)
        return await this.#scan(bytes, signal)
      } finally {
        release()
      }
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      bytes.destroy()
    }
  }

  async #scan(bytes: Readable, signal: AbortSignal | undefined): Promise<ScanResult> {
    const { scanTimeoutMs } = this.#config
    const timeout = AbortSignal.timeout(scanTimeoutMs)
    const ending = signal ? AbortSignal.any([signal, timeout]) : timeout
    const counted = new CountedBytes(addAbortSignal(ending, bytes), this.#maxScanBytes)
    try {
      const reply = await this.#connected(ending, connection => connection.scan(counted))
      return this.#resultOf(reply)
    } catch (error) {
      if (counted.isTooLarge) return this.#larger()
      if (!timeout.aborted || signal?.aborted) throw error
      // If it does not even respond to this, it is down; otherwise the file takes too long to scan.
      await this.#ping(signal)
      throw new Problem(504, 'scan-timeout', `The scan took longer than scan.clamav.scanTimeoutMs (${scanTimeoutMs} ms)`, { cause: error })
    }
  }

  async #ping(signal?: AbortSignal): Promise<void> {
    const deadline = AbortSignal.timeout(this.#config.connectTimeoutMs)
    const reply = await this.#connected(signal ? AbortSignal.any([signal, deadline]) : deadline, connection => connection.ask('PING'))
    if (reply !== 'PONG') throw new Unavailable(`Unexpected reply of clamd to PING: ${reply.slice(0, 200)}`)
  }

  async #connected<T>(signal: AbortSignal, use: (connection: ClamdConnection) => Promise<T>): Promise<T> {
    const connection = await ClamdConnection.open(clamdAddress(this.#config.socket), signal)
    try {
      return await use(connection)
    } finally {
      connection.close()
    }
  }

  #resultOf(reply: string): ScanResult {
    if (reply === 'stream: OK') return { state: 'clean' }
    const found = /^stream: (\S.*) FOUND$/.exec(reply)?.[1]
    if (found !== undefined) return { state: 'infected', signature: found }
    if (reply.includes('size limit exceeded')) {
      this.#log.warn('StreamMaxLength of clamd is smaller than scan.clamav.maxScanMiB; set both to the same value', { reply })
      return this.#larger()
    }
    throw new Problem(502, 'scan-failed', `clamd could not scan the file: ${reply.slice(0, 200)}`)
  }

  #larger(): ScanResult {
    const { largerFiles, maxScanMiB } = this.#config
    if (largerFiles === 'quarantine') return { state: 'infected', signature: tooLarge }
    return { state: 'skipped', reason: `larger than scan.clamav.maxScanMiB (${maxScanMiB} MiB)` }
  }
}
wire(ClamavScan, Config, Log)

/** Bytes that end with an error as soon as they exceed the scan limit. */
class CountedBytes implements AsyncIterable<Uint8Array> {
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #maxBytes: number
  isTooLarge = false

  constructor(bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#bytes = bytes
    this.#maxBytes = maxBytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let passed = 0
    for await (const piece of this.#bytes) {
      passed += piece.length
      this.isTooLarge = passed > this.#maxBytes
      if (this.isTooLarge) throw new Error('more bytes than the scan limit')
      yield piece
    }
  }
}
