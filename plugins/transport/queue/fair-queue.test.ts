import test from 'ava'
import { FairQueue, type ReadBacklog } from './fair-queue.ts'
import type { StoredJob } from './jobs.ts'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

const jobAt = (queue: string, n: number, due = at(n)): StoredJob => ({
  id: `${queue}-${n}`,
  revision: 1,
  queue,
  target: { kind: 'file', id: `${n}` },
  user: null,
  message: {},
  parameters: {},
  state: 'waiting',
  published: at(0),
  due,
  attempts: 0,
  crashes: 0,
  owner: null,
  leaseUntil: null,
  error: null,
})

const several = (queue: string, count: number): readonly StoredJob[] => Array.from({ length: count }, (_, n) => jobAt(queue, n, at(0)))

/** Reads from lists in place of the store, and counts the reads. */
function stored(all: readonly StoredJob[]) {
  const reads: string[] = []
  const taken = new Set<string>()
  const read: ReadBacklog = async (queue, limit) => {
    reads.push(queue)
    const jobs = all.filter(job => job.queue === queue && !taken.has(job.id)).slice(0, limit)
    return { jobs, isAll: jobs.length < limit }
  }
  return { read, reads, taken }
}

const free = (): boolean => false
const always = (): boolean => true

async function drain(fairQueue: FairQueue, taken: Set<string>): Promise<readonly string[]> {
  const order: string[] = []
  for (let job = await fairQueue.next(at(59), free, always); job; job = await fairQueue.next(at(59), free, always)) {
    taken.add(job.id)
    order.push(job.id)
  }
  return order
}

test('queues take turns, each in its own order', async t => {
  const { read, taken } = stored([...several('a', 3), ...several('b', 2)])
  t.deepEqual(await drain(new FairQueue(['a', 'b'], read), taken), ['a-0', 'b-0', 'a-1', 'b-1', 'a-2'])
})

test('queues that would need another process wait for a second while the others take turns', async t => {
  const { read, taken } = stored([...several('a', 30), ...several('b', 30), ...several('pdf', 30)])
  let runs: readonly string[] = ['a', 'b']
  const fairQueue = new FairQueue(['a', 'b', 'pdf'], read)
  const order: string[] = []
  const switches: number[] = []
  for (let ms = 0; ; ms += 100) {
    const now = new Date(Date.parse(at(1)) + ms).toISOString()
    const job = await fairQueue.next(now, free, queue => runs.includes(queue))
    if (!job) break
    taken.add(job.id)
    order.push(job.queue)
    if (runs.includes(job.queue)) continue
    runs = job.queue === 'pdf' ? ['pdf'] : ['a', 'b']
    switches.push(ms)
  }
  t.is(order.length, 90)
  t.deepEqual(order.slice(0, 4), ['a', 'b', 'a', 'b'])
  // Each switch comes a second after another queue was first preferred, which is 100 ms after the previous switch.
  t.deepEqual(switches.slice(0, 3), [1000, 2100, 3200])
})

test('a run that took longer than a second is followed by one of a waiting queue', async t => {
  const { read } = stored([...several('long', 3), ...several('pdf', 1)])
  const fairQueue = new FairQueue(['long', 'pdf'], read)
  const isLong = (queue: string): boolean => queue === 'long'
  t.is((await fairQueue.next(at(1), free, isLong))?.queue, 'long')
  t.is((await fairQueue.next(at(59), free, isLong))?.queue, 'pdf')
})

test('a long queue is read in pages, and no job is skipped', async t => {
  const { read, reads, taken } = stored(several('a', 350))
  const order = await drain(new FairQueue(['a'], read), taken)
  t.is(new Set(order).size, 350)
  t.is(reads.length, 4)
})

test('a newly published job is returned without a read', async t => {
  const { read, reads, taken } = stored([])
  const fairQueue = new FairQueue(['a'], read)
  await drain(fairQueue, taken)
  fairQueue.add([jobAt('a', 1), jobAt('elsewhere', 1)])
  t.is((await fairQueue.next(at(59), free, always))?.id, 'a-1')
  t.deepEqual(reads, ['a'])
})

test('a job published while its queue is being read is not lost', async t => {
  const all: StoredJob[] = []
  const requested = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  let reads = 0
  const fairQueue = new FairQueue(['a'], async () => {
    const jobs = [...all]
    if (reads++ === 0) {
      requested.resolve()
      await mayAnswer.promise
    }
    return { jobs, isAll: true }
  })
  const next = fairQueue.next(at(59), free, always)
  await requested.promise
  all.push(jobAt('a', 1))
  fairQueue.add(all)
  mayAnswer.resolve()
  t.is(await next, undefined)
  t.is((await fairQueue.next(at(59), free, always))?.id, 'a-1')
})

test('a job waits until it is due, and runs before jobs published after that time', async t => {
  const { read, taken } = stored([jobAt('a', 5)])
  const fairQueue = new FairQueue(['a'], read)
  t.is(await fairQueue.next(at(4), free, always), undefined)
  t.is(fairQueue.nextDue, at(5))
  fairQueue.add([jobAt('a', 3), jobAt('a', 7)])
  t.is(fairQueue.nextDue, at(3))
  t.deepEqual(await drain(fairQueue, taken), ['a-3', 'a-5', 'a-7'])
  t.is(fairQueue.nextDue, undefined)
})

test('a job that is already running is skipped', async t => {
  const { read } = stored(several('a', 2))
  const fairQueue = new FairQueue(['a'], read)
  t.is((await fairQueue.next(at(59), id => id === 'a-0', always))?.id, 'a-1')
})

test('a refresh finds jobs published by others', async t => {
  const all: StoredJob[] = []
  const { read, taken } = stored(all)
  const fairQueue = new FairQueue(['a'], read)
  t.deepEqual(await drain(fairQueue, taken), [])
  all.push(jobAt('a', 1))
  t.deepEqual(await drain(fairQueue, taken), [])
  fairQueue.refresh()
  t.deepEqual(await drain(fairQueue, taken), ['a-1'])
})
