import type { AddressInfo } from 'node:net'
import { silent } from 'pounce/sdk/testing'
import { type SMTPServerOptions, SMTPServer as Stand } from 'smtp-server'
import type { SmtpConfig } from './config.ts'
import { SmtpMailer, SmtpServer } from './smtp-server.ts'

/** A message as a mail server took it. */
export interface Taken {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/** Ends what was started: a test, or a whole file of them. */
interface Ending {
  teardown(end: () => unknown): void
}

/** A real mail server on this machine that keeps what it takes. */
export const mailServer = async (t: Ending, options: SMTPServerOptions = {}) => {
  const taken: Taken[] = []
  const server = new Stand({
    authOptional: true,
    hideSTARTTLS: true,
    logger: false,
    onData(stream, { envelope }, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        taken.push({ from, to: envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(pieces).toString() })
        done()
      })
    },
    ...options,
  })
  // A client that turns its back on our certificate is what a test is about.
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  return { taken, port: (server.server.address() as AddressInfo).port }
}

/** A mailer for the server on that port, without encryption unless `config` says otherwise. */
export const mailerFor = async (t: Ending, port: number, config: Partial<SmtpConfig> = {}, log = silent) => {
  const whole: SmtpConfig = {
    ...{ host: '127.0.0.1', port, security: 'none', from: 'data@example.org', fromName: 'Pounce', timeoutMs: 10_000 },
    ...config,
  }
  const server = new SmtpServer(whole)
  await server.start()
  t.teardown(() => server.dispose())
  return { mailer: new SmtpMailer(whole, server, log), server }
}
