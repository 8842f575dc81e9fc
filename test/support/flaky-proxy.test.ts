import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { flakyProxy } from './flaky-proxy.ts'
import { until } from './until.ts'

/** An echo server. */
const echo = async (t: ExecutionContext): Promise<string> => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', piece => socket.write(`${piece}${piece}`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `tcp://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/path`
}

const client = async (t: ExecutionContext, port: number) => {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => void socket.destroy())
  const seen = { received: '', isClosed: false }
  socket.setEncoding('utf8').on('data', text => {
    seen.received += text
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    seen.isClosed = true
  })
  await once(socket, 'connect')
  return { seen, say: (text: string) => void socket.write(text) }
}

const receives = (seen: { readonly received: string }, text: string) =>
  until(
    `${text} to be echoed`,
    () => seen.received,
    received => received === text,
  )

test('a URL keeps everything but its host and port', async t => {
  const proxy = await flakyProxy(t, await echo(t))
  t.is(proxy.urlFor('amqp://guest:g@example.org:5672/a?b=c'), `amqp://guest:g@127.0.0.1:${proxy.port}/a?b=c`)
  t.is(proxy.urlFor('http://example.org'), `http://127.0.0.1:${proxy.port}`)
  await t.throwsAsync(flakyProxy(t, 'http://example.org/'), { message: /has no host and port/ })
})

test('data sent in mode silent arrives when the mode changes', async t => {
  const proxy = await flakyProxy(t, await echo(t))
  const before = await client(t, proxy.port)
  before.say('a')
  await receives(before.seen, 'aa')
  await proxy.become('silent')
  const during = await client(t, proxy.port)
  before.say('b')
  during.say('c')
  const other = await flakyProxy(t, await echo(t))
  const witness = await client(t, other.port)
  witness.say('w')
  await receives(witness.seen, 'ww')
  t.deepEqual([before.seen.received, during.seen.received], ['aa', ''])
  await proxy.become('pass')
  await receives(before.seen, 'aabb')
  await receives(during.seen, 'cc')
  t.is(proxy.open, 2)
})

test('mode refuse closes open connections and accepts none, until mode pass listens on the same port again', async t => {
  const proxy = await flakyProxy(t, await echo(t))
  const before = await client(t, proxy.port)
  await proxy.become('refuse')
  await until('the connection to close', () => before.seen.isClosed)
  await t.throwsAsync(client(t, proxy.port), { code: 'ECONNREFUSED' })
  await proxy.become('pass')
  const after = await client(t, proxy.port)
  after.say('x')
  await receives(after.seen, 'xx')
})

test('mode cut closes the connection at the first byte', async t => {
  const proxy = await flakyProxy(t, await echo(t))
  await proxy.become('cut')
  const one = await client(t, proxy.port)
  t.false(one.seen.isClosed)
  one.say('x')
  await until('the connection to close', () => one.seen.isClosed)
  t.is(one.seen.received, '')
})

test('mode slow delays chunks in both directions, and keeps their order', async t => {
  const proxy = await flakyProxy(t, await echo(t), { slowMs: 100 })
  const one = await client(t, proxy.port)
  await proxy.become('slow')
  const began = performance.now()
  one.say('1')
  one.say('2')
  await until(
    'both echoes',
    () => one.seen.received,
    received => received.length === 4,
  )
  t.true(performance.now() - began >= 198)
  t.regex(one.seen.received, /^1.*2$/)
})
