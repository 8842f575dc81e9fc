import test from 'ava'
import type { EventConnection } from 'pounce/sdk'
import { LiveStream, type LiveStreamOwner } from './live-stream.ts'

/** A connection whose client reads nothing. */
const stuck = () => {
  const done: string[] = []
  let pendingBytes = 0
  const connection: EventConnection = {
    get pendingBytes() {
      return pendingBytes
    },
    write: bytes => {
      pendingBytes += bytes.byteLength
      done.push('written')
    },
    drained: () => Promise.resolve(),
    end: () => void done.push('ended'),
    destroy: () => void done.push('cut'),
  }
  return { connection, done }
}

const owner = (maxPendingBytes: number) => {
  const cut: LiveStream[] = []
  const hub: LiveStreamOwner = {
    maxPendingBytes,
    opened: () => undefined,
    left: () => undefined,
    closing: reason => Buffer.from(reason),
    cut: stream => void cut.push(stream),
  }
  return { hub, cut }
}

test('a client that reads nothing is disconnected when its buffer is full, and nothing more is written', t => {
  const { hub, cut } = owner(100)
  const { connection, done } = stuck()
  const stream = new LiveStream(hub, 'group', {}, undefined)
  stream.open(connection)
  for (let at = 0; at < 20; at += 1) stream.write(Buffer.alloc(30))
  t.deepEqual(done, ['written', 'written', 'written', 'written', 'cut'])
  t.deepEqual(cut, [stream])
  t.false(stream.isOpen)
})

test('when the server closes a stream, the final event is written before its end', t => {
  const { hub } = owner(100)
  const { connection, done } = stuck()
  const stream = new LiveStream(hub, 'group', {}, undefined)
  stream.open(connection)
  stream.close('shutdown')
  stream.close('shutdown')
  stream.write(Buffer.alloc(1))
  t.deepEqual(done, ['written', 'ended'])
})
