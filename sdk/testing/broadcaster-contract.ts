import type { Broadcaster } from '../ports/live-events.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

/** Broadcasters of two servers of one installation. */
export interface BroadcastingServers {
  readonly one: Broadcaster
  readonly other: Broadcaster
  /** Interrupts the connections, and resolves when they are restored; absent if there are none. */
  interrupt?(): Promise<void>
}

/** The contract of Broadcaster; `make` returns two that are connected to each other only. */
export function broadcasterContract(runner: TestRunner, make: (t: TestContext) => Promise<BroadcastingServers>): void {
  const test = contractTest(runner)
  /** Sends until received: the first messages may be sent before the other side listens. */
  const received = async (from: Broadcaster, topic: string, message: string, seen: readonly string[]): Promise<void> => {
    for (let time = 0; !seen.includes(message); time += 1) {
      if (time === 500) throw new Error(`${message} was not heard on ${topic}`)
      await from.send(topic, message).catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  test('broadcaster: a message reaches every listener of its topic, on every server, the sender included', async t => {
    const { one, other } = await make(t)
    const seen: string[][] = [[], [], []]
    one.listen('a', message => seen[0]?.push(message))
    other.listen('a', message => seen[1]?.push(message))
    other.listen('a', message => seen[2]?.push(message))
    for (const [at, list] of seen.entries()) await received(at === 0 ? other : one, 'a', `to ${at}`, list)
    await received(one, 'a', 'to oneself', seen[0] ?? [])
    for (const [at, list] of seen.entries()) t.true(list.includes(`to ${at}`))
    t.true(seen[0]?.includes('to oneself'))
  })

  test('broadcaster: other topics are not received', async t => {
    const { one, other } = await make(t)
    const [a, b]: [string[], string[]] = [[], []]
    other.listen('a', message => a.push(message))
    other.listen('b', message => b.push(message))
    await received(one, 'a', 'for a', a)
    await received(one, 'b', 'for b', b)
    t.false(a.includes('for b'))
    t.false(b.includes('for a'))
  })

  test('broadcaster: a removed listener receives nothing more, others still do', async t => {
    const { one, other } = await make(t)
    const [stopped, still]: [string[], string[]] = [[], []]
    const stop = other.listen('a', message => stopped.push(message))
    other.listen('a', message => still.push(message))
    await received(one, 'a', 'first', stopped)
    stop()
    await received(one, 'a', 'second', still)
    t.false(stopped.includes('second'))
  })

  test('broadcaster: a message has at most 4 kB', async t => {
    const { one } = await make(t)
    await t.throwsAsync(one.send('a', 'x'.repeat(4097)), { message: /at most 4096 bytes/ })
  })

  test('broadcaster: listeners survive an interruption of the connections', async t => {
    const servers = await make(t)
    const seen: string[] = []
    servers.other.listen('a', message => seen.push(message))
    await received(servers.one, 'a', 'before', seen)
    await servers.interrupt?.()
    await received(servers.one, 'a', 'after', seen)
    t.true(seen.includes('after'))
  })
}
