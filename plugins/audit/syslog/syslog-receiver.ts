import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { type AuditReceiver, Invalid, Unavailable, wire } from 'pounce/sdk'
import type { AuditEntry } from 'pounce/sdk/kit'
import { Config, type SyslogConfig } from './config.ts'

/** Severity of RFC 5424: normal but significant. */
const notice = 5

/** Reserved for documentation (RFC 5612): this software has no enterprise number. */
const structuredId = 'pounce@32473'

/** A header field: printable ASCII, of limited length, or nothing. */
const field = (text: string, maxLength: number): string => text.replace(/[^\x21-\x7e]/g, '_').slice(0, maxLength) || '-'

const value = (text: string): string => text.replace(/["\\\]]/g, '\\$&')

/** ASCII needs no byte order mark, which some receivers reject. */
const asciiJson = (entry: AuditEntry): string =>
  JSON.stringify(entry).replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A message in RFC 5424 format: the line's position in its chain as structured data, the line as JSON. */
const syslogMessage = (
  entry: AuditEntry,
  { facility, hostname, processId }: { readonly facility: number; readonly hostname: string; readonly processId: number },
): string => {
  const { id, seq, prev, hash } = entry.chain
  const place = `[${structuredId} chain="${value(id)}" seq="${seq}" prev="${value(prev)}" hash="${value(hash)}"]`
  const head = `<${facility * 8 + notice}>1 ${entry.at} ${field(hostname, 255)} pounce ${processId} ${field(entry.type, 32)}`
  return `${head} ${place} ${asciiJson(entry)}`
}

/** Octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3). */
const framed = (message: string): string => `${Buffer.byteLength(message)} ${message}`

/**
 * Sends each batch over a separate connection. Syslog has no acknowledgements; when the server closes the connection after us, it has read
 * everything.
 */
export class SyslogReceiver implements AuditReceiver {
  readonly name = 'audit.syslog'
  readonly #config: SyslogConfig
  #ca: Buffer | undefined

  constructor(config: SyslogConfig) {
    this.#config = config
  }

  async start(): Promise<void> {
    const { host, ca } = this.#config
    if (host === undefined) throw new Invalid('audit.syslog.host is required: the syslog server, such as `logs.example.org`')
    if (ca === undefined) return
    try {
      this.#ca = await readFile(ca)
    } catch (error) {
      throw new Invalid(`audit.syslog.ca: ${ca} cannot be read`, { cause: error })
    }
  }

  async deliver(entries: readonly AuditEntry[], signal: AbortSignal): Promise<void> {
    const of = { facility: this.#config.facility, hostname: hostname(), processId: process.pid }
    const text = entries.map(entry => framed(syslogMessage(entry, of))).join('')
    const socket = await this.#connect()
    const abort = () => socket.destroy(new Unavailable('The server is stopping'))
    signal.addEventListener('abort', abort, { once: true })
    try {
      await this.#send(socket, text)
    } finally {
      signal.removeEventListener('abort', abort)
      socket.destroy()
    }
  }

  #send(socket: Socket, text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let isEnded = false
      socket.setTimeout(this.#config.timeoutMs, () =>
        socket.destroy(new Unavailable('Timeout while the syslog server closed the connection')),
      )
      socket.once('error', error =>
        reject(
          error instanceof Unavailable ? error : new Unavailable(`The syslog server is unreachable: ${error.message}`, { cause: error }),
        ),
      )
      socket.once('end', () => {
        isEnded = true
      })
      socket.once('close', () => {
        if (isEnded && socket.writableFinished) resolve()
        else reject(new Unavailable('The connection to the syslog server was lost'))
      })
      // Responses of the server are ignored.
      socket.resume()
      socket.end(text)
    })
  }

  async #connect(): Promise<Socket> {
    const { host = '', port: given, transport } = this.#config
    if (transport === 'tls') {
      const { connect } = await import('node:tls')
      return connect({ host, port: given ?? 6514, ...(isIP(host) === 0 && { servername: host }), ...(this.#ca && { ca: this.#ca }) })
    }
    const { connect } = await import('node:net')
    return connect({ host, port: given ?? 601 })
  }
}
wire(SyslogReceiver, Config)
