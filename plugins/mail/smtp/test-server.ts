import type { AddressInfo } from 'node:net'
import { silent } from 'pounce/sdk/testing'
import { type SMTPServerOptions, SMTPServer as Stand } from 'smtp-server'
import type { SmtpConfig } from './config.ts'
import { SmtpMailer, SmtpServer } from './smtp-server.ts'

/** A message as received by a mail server. */
export interface Taken {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/** Where cleanup is registered: a test, or a whole test file. */
interface Ending {
  teardown(end: () => unknown): void
}

/** A real mail server on this machine that stores what it receives. */
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
  // Clients that reject our certificate are expected: tests cover that.
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  return { taken, port: (server.server.address() as AddressInfo).port }
}

/** A mailer for the server on that port, without encryption by default. */
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
