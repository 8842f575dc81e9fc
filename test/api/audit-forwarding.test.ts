import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import type { AuditEntry } from 'pounce/sdk/kit'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { Webhook } from 'standardwebhooks'
import { certificateFor } from '../support/certificate.ts'
import { newPerson } from '../support/people.ts'
import { ok } from '../support/scene.ts'
import { until } from '../support/until.ts'

// @separate-process: entries are sent every two seconds, and a slow test would receive duplicates.
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port

/** Splits octet-counted frames (RFC 6587). */
const framesOf = (received: Buffer): string[] => {
  const frames: string[] = []
  for (let at = 0; at < received.length; ) {
    const blank = received.indexOf(' ', at)
    const end = blank + 1 + Number(received.subarray(at, blank))
    frames.push(received.subarray(blank + 1, end).toString())
    at = end
  }
  return frames
}

const listening = async (t: ExecutionContext, server: Server, port = 0): Promise<number> => {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return portOf(server)
}
/** The IDs of the log entries, in chain order. */
const logged = async (server: TestServer) => {
  const lines = await ok<{ id: string; chain: { id: string; seq: number } }[]>(server.as(server.admin.key)('/api/admin/audit?limit=500'))
  return lines.toSorted((one, other) => one.chain.id.localeCompare(other.chain.id) || one.chain.seq - other.chain.seq).map(({ id }) => id)
}

/** Sends until all entries are received: the log periodically adds entries of its own. Returns the IDs received and logged. */
const everything = (server: TestServer, send: () => Promise<void>, received: () => readonly string[]) =>
  until(
    'all entries to be received',
    async () => {
      await send()
      const all = await logged(server)
      return [received(), all] as const
    },
    ([got, all]) => got.length >= all.length,
  )

const jsonOf = (message: string): AuditEntry => JSON.parse(message.slice(message.indexOf('] ') + 2)) as AuditEntry
const healthOf = async (server: TestServer, id: string) => {
  const { plugins } = (await (await server.as(server.admin.key)('/readyz')).json()) as {
    plugins: readonly { id: string; ok: boolean; message?: string }[]
  }
  return plugins.find(plugin => plugin.id === id)
}

test('syslog: entries are sent over TCP in chain order as soon as the server is reachable', async t => {
  const clock = new FixedClock()
  const messages: string[] = []
  const syslog = (): Server =>
    createServer(async socket => {
      messages.push(...framesOf(Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>))))
    })
  const first = syslog()
  const port = await listening(t, first)
  await new Promise(resolve => first.close(resolve))
  const settings = { host: '127.0.0.1', port, transport: 'tcp' }
  const server = await bootForTest({ t, clock, also: ['audit.syslog'], config: { audit: { syslog: settings } } })
  await newPerson(server, 'zoë')
  await server.drained()
  await server.runPeriodic('audit.syslog/send')
  t.deepEqual(messages, [])
  t.like(await healthOf(server, 'audit.syslog'), { ok: true })
  clock.advance(6 * 60_000)
  const health = await until(
    'the health check to fail',
    () => healthOf(server, 'audit.syslog'),
    seen => seen?.ok === false,
  )
  t.regex(health?.message ?? '', /\d+ audit log entries pending since .*is unreachable/)

  await listening(t, syslog(), port)
  clock.advance(6 * 60_000)
  const send = () => server.runPeriodic('audit.syslog/send')
  t.deepEqual(...(await everything(server, send, () => messages.map(message => jsonOf(message).id))))
  const line = messages.find(message => message.includes(' user.created ')) ?? ''
  t.regex(
    line,
    /^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ pounce \d+ user\.created \[pounce@32473 chain="\w+" seq="\d+" prev="\w{64}" hash="\w{64}"\] \{/,
  )
  await until(
    'the health check to pass',
    () => healthOf(server, 'audit.syslog'),
    seen => seen?.ok === true,
  )
  await send()
  t.is(new Set(messages).size, messages.length, 'no entry is sent twice')
})

test('syslog: entries are sent over TLS only if the certificate of the server is trusted', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const certificate = certificateFor('localhost')
  const messages: string[] = []
  const syslog = createTlsServer(certificate, async socket => {
    messages.push(...framesOf(Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>))))
  })
  syslog.on('tlsClientError', () => undefined)
  const port = await listening(t, syslog)
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, certificate.cert)
  for (const [settings, isSent] of [
    [{ host: 'localhost', port }, false],
    [{ host: 'localhost', port, ca }, true],
  ] as const) {
    const server = await bootForTest({ t, also: ['audit.syslog'], config: { audit: { syslog: settings } } })
    await newPerson(server, 'ann')
    await server.drained()
    await server.runPeriodic('audit.syslog/send')
    t.is(messages.length > 0, isSent)
    await server.stop()
  }
})

test('webhook: a signed batch is retried with the same id until it is accepted', async t => {
  const clock = new FixedClock(new Date().toISOString())
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const taken: AuditEntry[] = []
  const ids: string[] = []
  let status = 500
  const hook = createHttpServer(async (req, res) => {
    const body = await text(req)
    const { data } = new Webhook(secret).verify(body, req.headers as Record<string, string>) as { data: { lines: AuditEntry[] } }
    ids.push(String(req.headers['webhook-id']))
    t.is(req.url, '/hooks/pounce?from=test')
    if (status === 200) taken.push(...data.lines)
    res.writeHead(status).end()
  })
  const port = await listening(t, hook)
  const webhook = { url: `http://127.0.0.1:${port}/hooks/pounce?from=test`, secret }
  const server = await bootForTest({ t, clock, also: ['audit.webhook'], config: { audit: { webhook } } })
  await newPerson(server, 'ann')
  await server.drained()
  const send = () => server.runPeriodic('audit.webhook/send')
  const waitMs = 30_000
  clock.advance(waitMs)
  await send()
  const tries = ids.length
  await send()
  t.is(ids.length, tries, 'not retried at once')
  clock.advance(waitMs)
  await send()
  t.is(ids.length, tries + 1)
  t.is(ids.at(-1), ids.at(-2))
  status = 200
  clock.advance(waitMs)
  t.deepEqual(...(await everything(server, send, () => taken.map(({ id }) => id))))
  const heads = new Map<string, string>()
  for (const { chain } of taken) {
    t.is(chain.prev, heads.get(chain.id) ?? '0'.repeat(64))
    heads.set(chain.id, chain.hash)
  }
  t.false(JSON.stringify(taken).includes(server.admin.key))
})

test('missing and invalid settings prevent the start and are named in the error', async t => {
  await t.throwsAsync(bootForTest({ also: ['audit.syslog'] }), { message: /audit\.syslog\.host/ })
  await t.throwsAsync(bootForTest({ also: ['audit.webhook'] }), { message: /audit\.webhook\.url/ })
  const webhook = { url: 'https://siem.example.org/', secret: 'short' }
  await t.throwsAsync(bootForTest({ also: ['audit.webhook'], config: { audit: { webhook } } }), { message: /audit\.webhook\.secret/ })
})
