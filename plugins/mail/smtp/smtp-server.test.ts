import { type AddressInfo, createServer } from 'node:net'
import test from 'ava'
import { Invalid, Unavailable } from 'pounce/sdk'
import { mailerContract } from 'pounce/sdk/testing'
import type { SMTPServerOptions } from 'smtp-server'
import { recordingLog } from '../../../test/support/recording-log.ts'
import { MailDeferred, MailRefused, SmtpServer } from './smtp-server.ts'
import { mailerFor, mailServer } from './test-server.ts'

const mail = { to: ['ann@example.org'], subject: 'Ready', text: 'Hello' }
const answering = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode })

const ends: (() => unknown)[] = []
const whole = { teardown: (end: () => unknown) => void ends.push(end) }
test.after.always(async () => {
  for (const end of ends.toReversed()) await end()
})
mailerContract(test, async () => {
  const { taken, port } = await mailServer(whole)
  return { mailer: (await mailerFor(whole, port)).mailer, count: async () => taken.length }
})

test('the message is delivered unchanged, from the configured address', async t => {
  const { taken, port } = await mailServer(t)
  const { mailer } = await mailerFor(t, port, { fromName: 'Datenhaus Köln' })
  await mailer.send({ to: ['ann@example.org', 'bob@example.org'], subject: 'Größe 葉', text: 'Line one\n.\nLine three' })
  const [{ from, to, text } = { from: '', to: [], text: '' }] = taken
  t.is(from, 'data@example.org')
  t.deepEqual(to, ['ann@example.org', 'bob@example.org'])
  t.regex(text, /^From: =\?UTF-8\?.*<data@example\.org>\r$/m)
  t.regex(text, /^Subject: =\?UTF-8\?/m)
  t.regex(text, /^Auto-Submitted: auto-generated\r$/m)
  t.regex(text, /Line one\r\n\.\r\nLine three/)
})

test('sending fails with Unavailable while the server is unreachable, busy or unresponsive', async t => {
  const busy: SMTPServerOptions = { onMailFrom: (_address, _session, done) => done(answering(451, 'Try later')) }
  const silentServer: SMTPServerOptions = { onMailFrom: () => undefined }
  for (const options of [busy, silentServer]) {
    const { port, taken } = await mailServer(t, options)
    const { mailer } = await mailerFor(t, port, { timeoutMs: 300 })
    await t.throwsAsync(mailer.send(mail), { instanceOf: Unavailable })
    t.is(taken.length, 0)
  }
  const { mailer, server } = await mailerFor(t, 1)
  await t.throwsAsync(mailer.send(mail), { instanceOf: Unavailable })
  await t.throwsAsync(server.health(), { instanceOf: Unavailable })
})

test('a server whose response never ends is cut off', async t => {
  const closed = Promise.withResolvers<void>()
  const server = createServer(socket => {
    socket.write('220 ready\r\n')
    let drip: NodeJS.Timeout | undefined
    socket.on('data', (line: Buffer) => {
      if (line.toString().startsWith('MAIL')) drip = setInterval(() => socket.write('250-wait\r\n'), 20)
      else socket.write('250 fine\r\n')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(drip)
      closed.resolve()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { mailer } = await mailerFor(t, (server.address() as AddressInfo).port, { timeoutMs: 100 })
  await t.throwsAsync(mailer.send(mail), { instanceOf: Unavailable })
  await t.notThrowsAsync(closed.promise, 'the connection is closed')
})

test('sending succeeds once the server is back, without a restart', async t => {
  let isBusy = true
  const { port, taken } = await mailServer(t, {
    onMailFrom: (_address, _session, done) => done(isBusy ? answering(421, 'Shutting down') : null),
  })
  const { mailer, server } = await mailerFor(t, port)
  await t.throwsAsync(mailer.send(mail), { instanceOf: Unavailable })
  isBusy = false
  await mailer.send(mail)
  await server.health()
  t.is(taken.length, 1)
})

test('a permanently rejected message fails with MailRefused and status 502', async t => {
  const { port } = await mailServer(t, { onRcptTo: (_address, _session, done) => done(answering(550, 'No such user')) })
  const { mailer } = await mailerFor(t, port)
  const { status, code } = await t.throwsAsync(mailer.send(mail), { instanceOf: MailRefused })
  t.deepEqual([status, code], [502, 'mail-refused'])
})

test('a deferred recipient fails with MailDeferred, which states when to retry; a retry delivers the message', async t => {
  let isDeferred = true
  const { port, taken } = await mailServer(t, {
    onRcptTo: (_address, _session, done) => done(isDeferred ? answering(451, 'Greylisted') : null),
  })
  const { mailer } = await mailerFor(t, port)
  const error = await t.throwsAsync(mailer.send(mail), { instanceOf: MailDeferred })
  t.like(error, { status: 502, code: 'mail-deferred', retryAfterSeconds: 300 })
  isDeferred = false
  await mailer.send(mail)
  t.is(taken.length, 1)
})

test('a refused recipient is logged, and the others still get the message', async t => {
  const { port, taken } = await mailServer(t, {
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('gone') ? answering(550, 'No such user') : null),
  })
  const { log, lines } = recordingLog()
  const { mailer } = await mailerFor(t, port, {}, log)
  await mailer.send({ ...mail, to: ['gone@example.org', 'ann@example.org'] })
  t.deepEqual(
    taken.map(({ to }) => to),
    [['ann@example.org']],
  )
  t.regex(JSON.stringify(lines), /gone@example\.org/)
})

test('the password is sent only over TLS, unless `security` is `none`', async t => {
  let passwords = 0
  const { port, taken } = await mailServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      passwords++
      done(null, username === 'pounce' && password === 'right' ? { user: username } : {})
    },
  })
  const account = { user: 'pounce', password: 'right' }
  const { mailer: careful } = await mailerFor(t, port, { ...account, security: 'starttls' })
  await t.throwsAsync(careful.send(mail), { instanceOf: Unavailable })
  t.is(passwords, 0)
  const { mailer } = await mailerFor(t, port, account)
  await mailer.send(mail)
  t.is(taken.length, 1)
  const { mailer: wrong } = await mailerFor(t, port, { ...account, password: 'wrong' })
  await t.throwsAsync(wrong.send(mail), { instanceOf: Unavailable, message: /mail\.smtp\.user/ })
})

test('a certificate without a trusted issuer is refused', async t => {
  const { port, taken } = await mailServer(t, { hideSTARTTLS: false })
  const { mailer } = await mailerFor(t, port, { security: 'starttls' })
  await t.throwsAsync(mailer.send(mail), { instanceOf: Unavailable })
  t.is(taken.length, 0)
})

test('invalid settings fail startup and are named in the error', async t => {
  const whole = { host: '127.0.0.1', security: 'none' as const, from: 'data@example.org', fromName: 'Pounce', timeoutMs: 1000 }
  const { host: _host, ...hostless } = whole
  const { from: _from, ...fromless } = whole
  await t.throwsAsync(new SmtpServer(hostless).start(), { instanceOf: Invalid, message: /mail\.smtp\.host/ })
  await t.throwsAsync(new SmtpServer(fromless).start(), { instanceOf: Invalid, message: /mail\.smtp\.from/ })
  await t.throwsAsync(new SmtpServer({ ...whole, from: 'Pounce <data@example.org>' }).start(), { instanceOf: Invalid })
  await t.throwsAsync(new SmtpServer({ ...whole, user: 'pounce' }).start(), { instanceOf: Invalid, message: /mail\.smtp\.password/ })
})
