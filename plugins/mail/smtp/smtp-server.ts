import type { Transporter } from 'nodemailer'
import { checkMail, Invalid, wire } from 'pounce/sdk'
import { Config, type SmtpConfig } from './config.ts'
import { asProblem } from './smtp-problems.ts'

/** So many messages at once; more wait their turn in the process, and behind it in the outbox. */
const maxConnections = 2

/** Refuses settings that cannot work, with a message that names the setting. */
const checkConfig = ({ host, from, fromName, user, password }: SmtpConfig): void => {
  if (host === undefined) throw new Invalid('mail.smtp.host is required, such as `smtp.example.org`')
  if (from === undefined) throw new Invalid('mail.smtp.from is required: the sender address, such as `data@example.org`')
  checkMail({ to: [from], subject: fromName, text: '' })
  if ((user === undefined) !== (password === undefined)) throw new Invalid('mail.smtp.user and mail.smtp.password must be set together')
}

/** A few connections to the mail server, opened when there is something to send and kept while there is. */
export class SmtpServer {
  readonly #config: SmtpConfig
  #transport: Transporter | undefined

  constructor(config: SmtpConfig) {
    this.#config = config
  }

  /** The server itself may be away: mails wait in the outbox. */
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
      // The outbox repeats; a message must not come twice because two repeat.
      maxRequeues: 0,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  /** Resolves while the server greets us and takes our password. */
  async health(): Promise<void> {
    await this.call(transport => transport.verify())
  }

  /** Fails in the words of the SDK. */
  async call<T>(make: (transport: Transporter) => Promise<T>): Promise<T> {
    if (!this.#transport) throw new Error('mail.smtp was not started')
    return make(this.#transport).catch((error: unknown) => {
      throw asProblem(error)
    })
  }

  dispose(): void {
    this.#transport?.close()
  }
}
wire(SmtpServer, Config)
