import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'ava'
import { Invalid, Problem, Unavailable } from 'pounce/sdk'
import { eicar, malwareScanContract } from 'pounce/sdk/testing'
import { fakeClamd, scannerAt } from './fake-clamd.ts'

const stream = (bytes: Uint8Array): Readable => Readable.from([bytes], { objectMode: false })

malwareScanContract(test, {
  scanner: async t => scannerAt((await fakeClamd(t)).socket),
  async unreachable(t) {
    const { socket, stop } = await fakeClamd(t)
    await stop()
    return scannerAt(socket)
  },
})

test('clamd is reached over a Unix socket', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'clamd-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const path = join(folder, 'clamd.ctl')
  await fakeClamd(t, { path })
  const scanner = scannerAt(path)
  await scanner.health()
  t.is(await scanner.version(), 'ClamAV 0.0.0/fake')
  t.deepEqual(await scanner.scan(stream(eicar)), { state: 'infected', signature: 'Eicar-Test-Signature' })
})

test('an invalid address aborts the startup with an error that names the setting', t => {
  for (const socket of ['clamd.ctl', 'http://localhost:3310', 'tcp://', 'localhost:3310']) {
    t.throws(() => scannerAt(socket).start(), { instanceOf: Invalid, message: /scan\.clamav\.socket/ }, socket)
  }
  t.notThrows(() => scannerAt('tcp://[::1]:3310').start())
  t.notThrows(() => scannerAt('tcp://clamd').start())
})

test('files larger than maxScanMiB are not scanned, and are accepted or quarantined as configured', async t => {
  const { socket, most } = await fakeClamd(t)
  const mib = 1024 * 1024
  const large = () => stream(Buffer.alloc(mib + 1))
  const allowing = scannerAt(socket, { maxScanMiB: 1 })
  t.like(await allowing.scan(large(), { sizeBytes: mib + 1 }), { state: 'skipped' })
  t.is(most.ever, 0)
  t.like(await allowing.scan(large()), { state: 'skipped' })
  t.deepEqual(await allowing.scan(stream(Buffer.alloc(mib))), { state: 'clean' })
  const strict = scannerAt(socket, { maxScanMiB: 1, largerFiles: 'quarantine' })
  for (const options of [{}, { sizeBytes: mib + 1 }]) {
    t.deepEqual(await strict.scan(large(), options), { state: 'infected', signature: 'Pounce.TooLargeToScan' })
  }
})

test('a smaller StreamMaxLength of clamd replaces maxScanMiB as the limit', async t => {
  const { socket } = await fakeClamd(t, { maxStreamBytes: 100_000 })
  const bytes = () => Readable.from([Buffer.alloc(60_000), Buffer.alloc(60_000)], { objectMode: false })
  t.like(await scannerAt(socket).scan(bytes()), { state: 'skipped' })
  t.like(await scannerAt(socket, { largerFiles: 'quarantine' }).scan(bytes()), { state: 'infected' })
})

test('an error or malformed reply of clamd fails the scan', async t => {
  for (const reply of ['INSTREAM: Can not open file ERROR', 'stream: FOUND', 'OK', 'stream: OK then', 'UNKNOWN COMMAND']) {
    const { socket } = await fakeClamd(t, { streamReply: () => reply })
    const error = await t.throwsAsync(scannerAt(socket).scan(stream(eicar)), { instanceOf: Problem }, reply)
    t.is((error as Problem).code, 'scan-failed')
  }
})

test('a dropped connection is reported as an outage, never as a clean file', async t => {
  const { socket } = await fakeClamd(t, { dropsAfter: 10 })
  await t.throwsAsync(scannerAt(socket).scan(stream(eicar)), { instanceOf: Unavailable })
  const { socket: partial } = await fakeClamd(t, { streamReply: () => '' })
  await t.throwsAsync(scannerAt(partial).scan(stream(eicar)))
})

test('a hanging clamd is reported as an outage, a slow scan as a timeout', async t => {
  const { socket: hanging } = await fakeClamd(t, { pingReply: undefined })
  const scanner = scannerAt(hanging, { connectTimeoutMs: 100 })
  await t.throwsAsync(scanner.scan(stream(eicar)), { instanceOf: Unavailable })
  await t.throwsAsync(scanner.health(), { instanceOf: Unavailable })
  const { socket: slow } = await fakeClamd(t, { streamReply: () => undefined })
  const error = await t.throwsAsync(scannerAt(slow, { scanTimeoutMs: 200 }).scan(stream(eicar)), { instanceOf: Problem })
  t.like(error, { status: 504, code: 'scan-timeout' })
})

test('connections never exceed maxConnections', async t => {
  const { socket, most } = await fakeClamd(t)
  const scanner = scannerAt(socket, { maxConnections: 2 })
  await Promise.all(Array.from({ length: 20 }, () => scanner.scan(stream(eicar))))
  t.true(most.ever <= 3, `${most.ever} connections: a closing one may linger`)
  const slow = await fakeClamd(t, { streamReply: () => undefined })
  const one = scannerAt(slow.socket, { maxConnections: 1 })
  const ending = new AbortController()
  const first = one.scan(stream(eicar), { signal: ending.signal })
  const waiting = new AbortController()
  const second = one.scan(stream(eicar), { signal: waiting.signal })
  waiting.abort(new Error('no longer'))
  await t.throwsAsync(second, { message: 'no longer' })
  ending.abort(new Error('done'))
  await t.throwsAsync(first, { message: 'done' })
})

test('bytes are read no faster than clamd accepts them', async t => {
  let made = 0
  const { createServer } = await import('node:net')
  // Answers PING, but does not read streams.
  const server = createServer(socket => {
    socket.once('data', data => {
      if (data.toString().startsWith('zPING')) socket.end('PONG\0')
      else socket.pause()
    })
    socket.on('error', () => undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address() as { readonly port: number }
  const ending = new AbortController()
  const bytes = new Readable({
    read() {
      made += 1
      this.push(Buffer.alloc(1024 * 1024))
    },
  })
  const scanning = scannerAt(`tcp://127.0.0.1:${address.port}`, { maxScanMiB: 4000, scanTimeoutMs: 1500 }).scan(bytes, {
    signal: ending.signal,
  })
  await t.throwsAsync(scanning)
  t.true(made < 64, `${made} MiB were read`)
})
