import { mock } from 'node:test'
import { setImmediate as nextTurn, setImmediate } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { anonymous, type Route, ref, routesFor, s, TooMany } from 'pounce/sdk'
import { type BudgetConfig, httpConfig } from './config.ts'
import { type Admission, CostLimiter, RequestPacer } from './rate-limits.ts'
import { callers, hiddenId, seenId, TestPolicy } from './testing/people.ts'
import { defaultsOf, serve } from './testing/serve.ts'

const route = routesFor('things', {})
const defaults = (defaultsOf(httpConfig) as { budgets: BudgetConfig }).budgets
const limits = (maxConcurrent: number, maxPerMinute: number) => ({ maxConcurrent, maxPerMinute })

/** Work that lasts until it is released. */
class Gate {
  readonly #waiting: (() => void)[] = []
  entered = 0

  async pass(): Promise<void> {
    this.entered += 1
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  async until(count: number): Promise<void> {
    while (this.entered < count) await setImmediate()
  }

  open(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

const gated = (gate: Gate, cost: Route['declaration']['cost'] = 'search'): Route =>
  route({
    method: 'GET',
    path: '/api/work',
    summary: 'x',
    permission: 'anyone',
    ...(cost === undefined ? {} : { cost }),
    responses: { 200: s.text() },
    handle: async () => {
      await gate.pass()
      return { status: 200, body: 'done' }
    },
  })

const counted: Route = route({
  method: 'GET',
  path: '/api/things/:id',
  summary: 'x',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  cost: 'fetch',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.text() },
  handle: async () => ({ status: 200, body: 'done' }),
})

const served = async (t: ExecutionContext, routes: Record<string, Route>, budgets: Partial<BudgetConfig>, trustedProxies = 0) => {
  const { url } = await serve(t, routes, {
    callers,
    policy: new TestPolicy() as never,
    config: { budgets: { ...defaults, ...budgets }, trustedProxies },
  })
  return (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => fetch(url + path, { ...init, headers })
}

test('requests beyond the concurrency limit of a caller wait for a free slot', async t => {
  const gate = new Gate()
  const get = await served(t, { work: gated(gate) }, { search: { account: limits(2, 40), anonymous: limits(2, 40) } })
  const answers = Promise.all([1, 2, 3].map(() => get('/api/work')))
  await gate.until(2)
  t.is(gate.entered, 2)
  gate.open()
  await gate.until(3)
  gate.open()
  t.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 200, 200],
  )
})

test('a request beyond the queue limit is 429, with Retry-After and a message', async t => {
  const gate = new Gate()
  const get = await served(t, { work: gated(gate) }, { maxWaiting: 0, search: { account: limits(1, 40), anonymous: limits(1, 40) } })
  const first = get('/api/work')
  await gate.until(1)
  const refused = await get('/api/work')
  t.is(refused.status, 429)
  t.is(refused.headers.get('retry-after'), '1')
  const { code, message } = (await refused.json()) as { code: string; message: string }
  t.is(code, 'too-many-requests')
  t.is(message, 'Too many concurrent searches (maximum 1); wait until some of them finish')
  gate.open()
  t.is((await first).status, 200)
  const again = get('/api/work')
  await gate.until(2)
  gate.open()
  t.is((await again).status, 200)
})

test('a request that waited too long is refused', async t => {
  const gate = new Gate()
  const get = await served(t, { work: gated(gate) }, { maxWaitMs: 1, search: { account: limits(1, 40), anonymous: limits(1, 40) } })
  const first = get('/api/work')
  await gate.until(1)
  t.is((await get('/api/work')).status, 429)
  gate.open()
  t.is((await first).status, 200)
})

test('a client that disconnects while waiting leaves the queue', async t => {
  const budgets = new CostLimiter({ ...defaults, maxWaiting: 1, search: { account: limits(1, 40), anonymous: limits(1, 40) } })
  const leaving = new AbortController()
  const work = { cost: 'search', caller: anonymous, address: '192.0.2.1', signal: () => leaving.signal } as const
  const first = await budgets.admit(work)
  const gone = budgets.admit(work)
  leaving.abort()
  await t.throwsAsync(gone)
  const next = budgets.admit({ ...work, signal: () => new AbortController().signal })
  first.worked()
  first.release()
  await t.notThrowsAsync(next)
})

test('work is charged afterwards, concurrent requests share the time, and debt is limited to one minute of budget', async t => {
  let nowMs = 0
  const budgets = new CostLimiter({ ...defaults, freeMs: 0, search: { account: limits(4, 10), anonymous: limits(4, 10) } }, () => nowMs)
  const admit = async (address: string): Promise<Admission> => {
    const admission = await budgets.admit({ cost: 'search', caller: anonymous, address, signal: () => new AbortController().signal })
    admission.begin()
    return admission
  }
  const end = ({ worked, release }: Admission): void => {
    worked()
    release()
  }
  const [one, other] = [await admit('192.0.2.1'), await admit('192.0.2.2')]
  nowMs = 16_000
  end(one)
  end(other)
  // Each was charged 8 s of 10.
  const [again, long] = [await admit('192.0.2.1'), await admit('192.0.2.2')]
  end(again)
  nowMs = 316_000
  end(long)
  const refusal = await t.throwsAsync(admit('192.0.2.2'), { instanceOf: TooMany })
  t.is(refusal?.retryAfterSeconds, 61)
  nowMs += 61_000
  await t.notThrowsAsync(admit('192.0.2.2'))
})

test('the time to receive a body is not charged', async t => {
  let nowMs = 0
  const budgets = new CostLimiter({ ...defaults, freeMs: 0, metadata: { account: limits(1, 1), anonymous: limits(1, 1) } }, () => nowMs)
  const work = { cost: 'metadata', caller: anonymous, address: '192.0.2.1', signal: () => new AbortController().signal } as const
  const slow = await budgets.admit(work)
  nowMs = 30_000
  slow.begin()
  slow.worked()
  slow.release()
  await t.notThrowsAsync(budgets.admit(work))
})

test('the least recently seen caller is evicted first, and none with a running request', async t => {
  const budgets = new CostLimiter({ ...defaults, maxCallers: 2, fetch: { account: limits(1, 1), anonymous: limits(1, 1) } }, () => 0)
  const admit = (address: string) =>
    budgets.admit({ cost: 'fetch', caller: anonymous, address, signal: () => new AbortController().signal })
  await admit('192.0.2.1')
  for (const address of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) {
    const { worked, release } = await admit(address)
    worked()
    release()
  }
  await t.throwsAsync(admit('192.0.2.1'), { instanceOf: TooMany })
  await t.throwsAsync(admit('192.0.2.4'), { instanceOf: TooMany })
  await t.notThrowsAsync(admit('192.0.2.2'))
})

test('budgets are per account, regardless of address, and per address for anonymous callers', async t => {
  const get = await served(t, { counted }, { fetch: { account: limits(4, 2), anonymous: limits(4, 1) } }, 1)
  const status = async (headers: Record<string, string>) => (await get(`/api/things/${seenId}`, headers)).status
  t.deepEqual([await status({ 'x-api-key': 'ann' }), await status({ 'x-api-key': 'ann' })], [200, 200])
  t.is(await status({ 'x-api-key': 'ann', 'x-forwarded-for': '192.0.2.9' }), 429)
  t.is(await status({ 'x-forwarded-for': '192.0.2.1' }), 200)
  t.is(await status({ 'x-forwarded-for': '192.0.2.1' }), 429)
  t.is(await status({ 'x-forwarded-for': '192.0.2.2' }), 200)
  t.is(await status({ 'x-forwarded-for': '2001:db8::1' }), 200)
  t.is(await status({ 'x-forwarded-for': '2001:db8::2' }), 429)
})

test('an exhausted budget does not change other refusals, and reveals nothing about resources', async t => {
  const get = await served(t, { counted }, { fetch: { account: limits(4, 1), anonymous: limits(4, 1) } })
  t.is((await get(`/api/things/${seenId}`)).status, 200)
  t.is((await get(`/api/things/${seenId}`)).status, 429)
  t.is((await get(`/api/things/${hiddenId}`)).status, 404)
  t.is((await get('/api/things/no-id')).status, 404)
  t.is((await get(`/api/things/${hiddenId}`, { 'x-api-key': 'nobody' })).status, 401)
})

test('Retry-After is the time until an exhausted budget is available again', async t => {
  const get = await served(t, { counted }, { fetch: { account: limits(4, 1), anonymous: limits(4, 1) } })
  await get(`/api/things/${seenId}`)
  const refused = await get(`/api/things/${seenId}`)
  const seconds = Number(refused.headers.get('retry-after'))
  // A loaded machine takes a while between requests.
  t.true(seconds > 30 && seconds <= 60, `${seconds}`)
  t.true(((await refused.json()) as { message: string }).message.endsWith(`; retry in ${seconds} s`))
})

test('budgets in requests are refilled one by one, to the second', async t => {
  let nowMs = 0
  const budgets = new CostLimiter({ ...defaults, fetch: { account: limits(4, 1), anonymous: limits(4, 1) } }, () => nowMs)
  const admit = async (): Promise<void> => {
    const work = { cost: 'fetch', caller: anonymous, address: '192.0.2.1', signal: () => new AbortController().signal } as const
    const { begin, worked, release } = await budgets.admit(work)
    begin()
    worked()
    release()
  }
  await admit()
  for (const left of [60, 59, 1]) {
    nowMs = (60 - left) * 1000
    t.is((await t.throwsAsync(admit(), { instanceOf: TooMany }))?.retryAfterSeconds, left)
  }
  nowMs = 60_000
  await t.notThrowsAsync(admit())
})

test.serial('metadata below the size limit is not charged, a body of unknown length is', async t => {
  const now = performance.now.bind(performance)
  let workedMs = 0
  const clock = mock.method(performance, 'now', () => now() + workedMs)
  t.teardown(() => clock.mock.restore())
  const take = route({
    method: 'POST',
    path: '/api/take',
    summary: 'x',
    permission: 'anyone',
    cost: 'metadata',
    body: s.Record(s.String(), s.Unknown()),
    responses: { 200: s.text() },
    handle: async () => {
      workedMs += 200
      return { status: 200, body: 'taken' }
    },
  })
  const tight = { account: limits(1, 1), anonymous: limits(1, 1) }
  const send = await served(t, { take }, { freeMs: 0, smallMetadataBytes: 20, metadata: tight })
  const post = async (body: string) => (await send('/api/take', { 'content-type': 'application/json' }, { method: 'POST', body })).status
  const large = JSON.stringify({ text: 'long enough to count' })
  let answers = 0
  while ((await post(large)) === 200) answers += 1
  // The budget is one second per minute; the machine's overhead is charged as well.
  t.true(answers >= 1 && answers <= 6, `${answers}`)
  t.is(await post('{"a":1}'), 200)
  const postChunked = async () => {
    const chunked = { method: 'POST', body: new Blob(['{"a":1}']).stream(), duplex: 'half' } as RequestInit
    return (await send('/api/take', { 'content-type': 'application/json' }, chunked)).status
  }
  // The budget is refilled during the requests above, so it may allow a few.
  let chunkedAnswers = 0
  while ((await postChunked()) === 200 && chunkedAnswers <= 2 * answers) chunkedAnswers += 1
  t.true(chunkedAnswers <= 2 * answers, `${chunkedAnswers}`)
})

test('requests shorter than freeMs are free', async t => {
  const quick = route({
    method: 'GET',
    path: '/api/quick',
    summary: 'x',
    permission: 'anyone',
    cost: 'search',
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'done' }),
  })
  const tight = { account: limits(1, 1), anonymous: limits(1, 1) }
  const get = await served(t, { quick }, { freeMs: 60_000, search: tight })
  for (let n = 0; n < 300; n += 1) t.is((await get('/api/quick')).status, 200)
})

test('a slot is released only when the response has been sent', async t => {
  const written = Promise.withResolvers<void>()
  const slow = route({
    method: 'GET',
    path: '/api/slow',
    summary: 'x',
    permission: 'anyone',
    cost: 'archive',
    responses: { 200: s.rows(s.Integer()) },
    handle: async () => ({
      status: 200,
      body: (async function* () {
        yield 1
        await written.promise
        yield 2
      })() as never,
    }),
  })
  const get = await served(t, { slow }, { maxWaiting: 0, archive: { account: limits(1, 40), anonymous: limits(1, 40) } })
  const first = get('/api/slow').then(answer => answer.text())
  while ((await get('/api/slow')).status !== 429) await setImmediate()
  written.resolve()
  await first
  t.is((await get('/api/slow')).status, 200)
})

test.serial('the time to the first byte is charged, even for a streamed response', async t => {
  let nowMs = 0
  const clock = mock.method(performance, 'now', () => nowMs)
  t.teardown(() => clock.mock.restore())
  const slow = route({
    method: 'GET',
    path: '/api/slow',
    summary: 'x',
    permission: 'anyone',
    cost: 'export',
    responses: { 200: s.rows(s.Integer()) },
    handle: async () => ({
      status: 200,
      body: (async function* () {
        nowMs += 5000
        yield 1
      })() as never,
    }),
  })
  const get = await served(t, { slow }, { export: { account: limits(1, 2), anonymous: limits(1, 2) } })
  t.is((await get('/api/slow')).status, 200)
  t.is((await get('/api/slow')).status, 429)
})

test('a burst of requests is started a few at a time, in order, with other work in between', async t => {
  const pace = new RequestPacer()
  const begun: number[] = []
  const atOnce: number[] = []
  const all = Array.from({ length: 300 }, async (_, n) => {
    await pace.enter()
    begun.push(n)
  })
  await Promise.resolve()
  for (let turns = 0, before = 0; begun.length < 300 && turns < 1000; turns += 1) {
    atOnce.push(begun.length - before)
    before = begun.length
    await nextTurn()
  }
  await Promise.all(all)
  t.deepEqual(
    begun,
    Array.from({ length: 300 }, (_, n) => n),
  )
  t.true(Math.max(...atOnce) <= 32, String(atOnce))
  t.true(atOnce.length >= 10, String(atOnce))
})

test('single requests do not wait, not even after a burst', async t => {
  const pace = new RequestPacer()
  t.is(pace.enter(), undefined)
  await Promise.all(Array.from({ length: 100 }, () => pace.enter()))
  await nextTurn()
  t.is(pace.enter(), undefined)
})

test('a request during a burst waits behind it', async t => {
  const pace = new RequestPacer()
  const order: string[] = []
  const crowd = Array.from({ length: 40 }, async () => {
    await pace.enter()
    order.push('crowd')
  })
  await nextTurn()
  const late = (async () => {
    await pace.enter()
    order.push('late')
  })()
  await Promise.all([...crowd, late])
  t.is(order.indexOf('late'), 40)
})
