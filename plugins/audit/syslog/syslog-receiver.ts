import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { type AuditEntry, type AuditReceiver, Invalid, Unavailable, wire } from 'pounce/sdk'
import { Config, type SyslogConfig } from './config.ts'
import { framed, syslogMessage } from './syslog-message.ts'

/**
 * Sends lines over a connection of their own per batch. Syslog acknowledges nothing; that the server ends the connection after us shows that it has read
 * all of it.
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
      // What a server says is of no meaning.
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
