import type { Transporter } from 'nodemailer'
import { Invalid, Log, type Mailer, Problem, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { checkMail, type Mail } from 'pounce/sdk/kit'
import { Config, type SmtpConfig } from './config.ts'

/** The fields used here of a nodemailer error. */
interface Failure {
  readonly code?: unknown
  readonly responseCode?: unknown
  /** The last command that was sent. */
  readonly command?: unknown
}

/** 502: the mail server rejects this message permanently. */
export class MailRefused extends Problem {
  constructor(answer: number, options: { readonly cause: unknown }) {
    super(502, 'mail-refused', `The mail server refused the message for good, with ${answer}`, options)
  }
}

/** 502: the mail server defers messages to these recipients, because of greylisting or a full mailbox. */
export class MailDeferred extends Problem {
  constructor(answer: number, options: { readonly cause: unknown }) {
    super(502, 'mail-deferred', `The mail server defers messages to this recipient, with ${answer}`, { retryAfterSeconds: 300, ...options })
  }
}

const isRefusedForGood = (status: unknown): status is number => typeof status === 'number' && status >= 500 && status < 600

/** Converts the failure of a delivery to an error of the SDK. */
function asProblem(error: unknown): Error {
  if (error instanceof Problem) return error
  const { code, responseCode, command }: Failure = typeof error === 'object' && error !== null ? error : {}
  // An admin has to fix rejected credentials; the message itself is fine.
  if (isRefusedForGood(responseCode) && code !== 'EAUTH') return new MailRefused(responseCode, { cause: error })
  if (typeof responseCode === 'number' && command === 'RCPT TO') return new MailDeferred(responseCode, { cause: error })
  return new Unavailable(
    code === 'EAUTH' ? 'The mail server rejects mail.smtp.user and mail.smtp.password' : 'The mail server is unreachable',
    { cause: error },
  )
}

/** `timeoutMs` applies between two bytes: a server that sends one now and then would otherwise occupy a connection for ever. */
const deliveryTimeouts = 10

/** Maximum number of concurrent messages; further ones wait in the process, and then in the outbox. */
const maxConnections = 2

/** Rejects unusable settings, with a message that names the setting. */
const checkConfig = ({ host, from, fromName, user, password }: SmtpConfig): void => {
  if (host === undefined) throw new Invalid('mail.smtp.host is required, such as `smtp.example.org`')
  if (from === undefined) throw new Invalid('mail.smtp.from is required: the sender address, such as `data@example.org`')
  checkMail({ to: [from], subject: fromName, text: '' })
  if ((user === undefined) !== (password === undefined)) throw new Invalid('mail.smtp.user and mail.smtp.password must be set together')
}

/** A pool of a few connections to the mail server, opened on demand and kept while in use. */
export class SmtpServer {
  readonly #config: SmtpConfig
  #transport: Transporter | undefined

  constructor(config: SmtpConfig) {
    this.#config = config
  }

  /** The server itself may be unavailable: mails wait in the outbox. */
  async start(): Promise<void> {
    checkConfig(this.#config)
    const { host = '', port: ownPort, user, password, security, timeoutMs } = this.#config
    const { createTransport } = await import('nodemailer')
    this.#transport = createTransport({
      pool: true,
      host,
      port: ownPort ?? (security === 'tls' ? 465 : 587),
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      ...(user !== undefined && password !== undefined ? { auth: { user, pass: password } } : {}),
      maxConnections,
      // Retries are left to the outbox: with two components retrying, a message could be sent twice.
      maxRequeues: 0,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  /** Resolves when the server responds and accepts our credentials. */
  async health(): Promise<void> {
    await this.call(transport => transport.verify())
  }

  /** Converts errors to those of the SDK. */
  async call<T>(make: (transport: Transporter, signal: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#transport) throw new Error('mail.smtp was not started')
    return make(this.#transport, AbortSignal.timeout(deliveryTimeouts * this.#config.timeoutMs)).catch((error: unknown) => {
      throw asProblem(error)
    })
  }

  dispose(): void {
    this.#transport?.close()
  }
}
wire(SmtpServer, Config)

/** Whether the mail server responds, for the status page. */
export class SmtpStatus implements StatusPart {
  readonly name = 'mail'
  readonly details: Readonly<Record<string, string>>
  readonly #server: SmtpServer

  constructor({ host = '', from = '' }: SmtpConfig, server: SmtpServer) {
    this.details = { host, from }
    this.#server = server
  }

  async check(): Promise<undefined> {
    await this.#server.health()
  }
}
wire(SmtpStatus, Config, SmtpServer)

/** RFC 3834: no absence notice or other automatic reply is sent to `from`. */
const notAnswered = { 'Auto-Submitted': 'auto-generated' }

/** Sends messages to the mail server. */
export class SmtpMailer implements Mailer {
  readonly #from: { readonly name: string; readonly address: string }
  readonly #server: SmtpServer
  readonly #log: Log

  constructor({ from = '', fromName }: SmtpConfig, server: SmtpServer, log: Log) {
    this.#from = { name: fromName, address: from }
    this.#server = server
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    const { to, subject, text } = mail
    const message = { from: this.#from, to: [...to], subject, text, headers: notAnswered }
    const { rejected = [] } = await this.#server.call((transport, signal) => transport.sendMail({ ...message, signal }))
    // A retry would reach the accepted recipients a second time, and be rejected again.
    if (rejected.length > 0) this.#log.warn('The mail server rejected some recipients of an email', { refused: rejected, subject })
  }
}
wire(SmtpMailer, Config, SmtpServer, Log)
