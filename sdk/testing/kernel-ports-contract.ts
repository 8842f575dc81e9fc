import type { TestFn } from 'ava'
import type { Clock, Ids, Log, Mailer, Metrics } from '../ports/kernel.ts'
import { Invalid } from '../problem.ts'
import { isId } from '../schema.ts'

/** What every Clock promises. */
export function clockContract(test: TestFn, make: () => Clock): void {
  test('clock: it tells a time that can be written as ISO 8601 in UTC', t => {
    const now = make().now()
    t.true(now instanceof Date)
    t.regex(now.toISOString(), /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('clock: it does not run back while it is read', t => {
    const clock = make()
    let last = clock.now().getTime()
    for (let turn = 0; turn < 100_000; turn += 1) {
      const now = clock.now().getTime()
      if (now < last) t.fail(`${now} came after ${last}`)
      last = now
    }
    t.true(Number.isInteger(last))
  })

  test('clock: who changes a date that it gave changes nothing but that', t => {
    const clock = make()
    clock.now().setFullYear(1999)
    t.true(clock.now().getUTCFullYear() > 1999)
  })
}

/** What every Ids promises. `make` is called twice in a test that stands for two kernels. */
export function idsContract(test: TestFn, make: () => Ids): void {
  const many = 100_000

  test('ids: each has 24 lower-case hex digits, none comes twice, each is above the last', t => {
    const ids = make()
    const made = Array.from({ length: many }, () => ids.next())
    t.deepEqual(
      made.filter(id => !isId(id)),
      [],
    )
    t.is(new Set(made).size, many)
    t.deepEqual(
      made.filter((id, at) => at > 0 && id <= (made[at - 1] ?? '')),
      [],
    )
  })

  test('ids: two kernels never make the same one', t => {
    const [one, other] = [make(), make()]
    const made = Array.from({ length: many }, (_, at) => (at % 2 ? one : other).next())
    t.is(new Set(made).size, many)
  })

  test('ids: the next one cannot be told from the last alone by another kernel', t => {
    const tails = Array.from({ length: 50 }, () => make().next().slice(8, 18))
    t.is(new Set(tails).size, tails.length)
  })
}

/** A log and the text that it has written so far. */
export interface LogSubject {
  readonly log: Log
  /** One string for each line, without its line end. */
  lines(): readonly string[]
}

const secretFields = [
  ...['password', 'Password', 'newPassword', 'pass', 'pwd', 'key', 'apiKey', 'API_KEY', 'X-API-Key', 'x_api_key'],
  ...[
    'cookie',
    'Cookie',
    'set-cookie',
    'authorization',
    'Authorization',
    'token',
    'accessToken',
    'refresh_token',
    'secret',
    'clientSecret',
  ],
]
const secretAddresses = [
  '/api/files?key=S3CRET',
  '/api/files?limit=2&key=S3CRET&x=1',
  '/api/files?KEY=S3CRET#part',
  'https://example.org/x?api_key=S3CRET',
  '/login?token=S3CRET',
  '/reset?password=S3CRET',
  'amqp://guest:S3CRET@broker:5672/vhost',
  'failed: GET http://h/a?key=S3CRET, then "http://h/b?key=S3CRET"',
]

/** What every Log promises, whatever it is handed. */
export function logContract(test: TestFn, make: () => LogSubject): void {
  const levels = ['debug', 'info', 'warn', 'error'] as const

  test('log: each call writes one line with its message and its fields', t => {
    const { log, lines } = make()
    for (const level of levels) log[level](`It is ${level}`, { count: 7, name: 'Größe 葉' })
    t.is(lines().length, levels.length)
    for (const [at, level] of levels.entries())
      t.regex(lines()[at] ?? '', new RegExp(`It is ${level}.*7.*Größe 葉|7.*Größe 葉.*It is ${level}`))
  })

  test('log: the values of fields named like secrets are written at no level and no depth', t => {
    const { log, lines } = make()
    for (const level of levels)
      for (const name of secretFields) {
        log[level]('flat', { [name]: 'S3CRET' })
        log[level]('deep', { request: { headers: [{ [name]: ['S3CRET', { inner: 'S3CRET' }] }] } })
        log[level]('in a map', { headers: new Map([[name, 'S3CRET']]) })
        log[level]('in a cause', { error: new Error('x', { cause: { [name]: 'S3CRET' } }) })
      }
    t.is(lines().length, levels.length * secretFields.length * 4)
    t.deepEqual(
      lines().filter(line => line.includes('S3CRET')),
      [],
    )
  })

  test('log: secrets inside addresses are hidden wherever the address stands', t => {
    const { log, lines } = make()
    for (const address of secretAddresses) {
      log.info(address)
      log.info('field', { url: address, list: [address] })
      log.error('error', { error: new Error(address, { cause: new AggregateError([new Error(address)], address) }) })
    }
    t.deepEqual(
      lines().filter(line => line.includes('S3CRET')),
      [],
    )
    t.true(lines().some(line => line.includes('limit=2')))
  })

  test('log: text from outside starts no line and steers no terminal', t => {
    const { log, lines } = make()
    const text = 'one\ntwo\r\nthree \u001b[31mred\u0007 \u0000 \b \u001b]0;title\u0007'
    log.warn(text, { text, [`name ${text}`]: text, error: new Error(text) })
    t.is(lines().length, 1)
    t.notRegex(lines()[0] ?? '\n', /[\u0000-\u001f]/)
  })

  test('log: no value breaks it', t => {
    const { log, lines } = make()
    const circle: Record<string, unknown> = { big: 12n, bytes: Buffer.from('abc'), when: new Date(Number.NaN), symbol: Symbol('s') }
    circle['self'] = circle
    const deep = Array.from({ length: 5000 }).reduce<unknown>(inner => ({ inner }), 'end')
    const odd = [circle, deep, undefined, null, Number.NaN, () => undefined, Object.create(null), new Error(''), 'x'.repeat(100_000)]
    for (const value of odd) t.notThrows(() => log.error('odd', { value, error: value }))
    t.is(lines().length, odd.length)
  })

  test('log: what is logged is not changed by it', t => {
    const fields = { password: 'p', headers: { cookie: 'c' }, list: ['/x?key=k'] }
    make().log.info('x', fields)
    t.deepEqual(fields, { password: 'p', headers: { cookie: 'c' }, list: ['/x?key=k'] })
  })
}

/** What every Metrics promises: measuring never breaks what is measured. */
export function metricsContract(test: TestFn, make: () => Metrics | Promise<Metrics>): void {
  test('metrics: names in snake_case are taken, with and without labels', async t => {
    const metrics = await make()
    for (const name of ['requests_total', 'bytes_read_total', 'a', 'x2_seconds', `long_${'name_'.repeat(30)}total`]) {
      t.is(metrics.count(`count_${name}`), undefined)
      t.is(metrics.count(`count_${name}`, undefined, 5), undefined)
      t.is(metrics.gauge(`gauge_${name}`, -1.5, { kind: 'file' }), undefined)
      t.is(metrics.observe(`observe_${name}`, 0.25, { route: 'getFile' }), undefined)
    }
  })

  test('metrics: any text is a value of a label', async t => {
    const metrics = await make()
    for (const value of ['', ' ', '"', '\\', 'a\nb', '\u0000', '葉', '{}', 'x'.repeat(10_000)])
      t.notThrows(() => metrics.count('labelled_total', { value }))
  })

  test('metrics: other labels than at the first use break nothing', async t => {
    const metrics = await make()
    for (const labels of [{ one: 'a' }, { two: 'b' }, {}, undefined, { one: 'a', two: 'b', three: 'c' }]) {
      t.notThrows(() => metrics.count('odd_total', labels))
      t.notThrows(() => metrics.gauge('odd_length', 1, labels))
      t.notThrows(() => metrics.observe('odd_seconds', 1, labels))
    }
  })

  test('metrics: nothing, very much and very little are measured', async t => {
    const metrics = await make()
    for (const value of [0, 1e-9, 1e15, Number.MAX_SAFE_INTEGER]) {
      t.notThrows(() => metrics.count('extreme_total', {}, value))
      t.notThrows(() => metrics.gauge('extreme_bytes', -value))
      t.notThrows(() => metrics.observe('extreme_seconds', value))
    }
  })

  test('metrics: measuring is cheap', async t => {
    const metrics = await make()
    const startedAt = performance.now()
    for (let turn = 0; turn < 50_000; turn += 1) metrics.observe('cheap_seconds', turn / 1000, { route: 'getFile' })
    t.true(performance.now() - startedAt < 5000)
  })
}

/** A mailer and how many messages its next hop has taken. */
export interface MailerSubject {
  readonly mailer: Mailer
  count(): Promise<number>
}

const mail = { to: ['ann@example.org'], subject: 'Your account', text: 'Hello Ann,\n\nit is ready.\n.\n\nPounce' }

/** What every Mailer promises. */
export function mailerContract(test: TestFn, make: () => MailerSubject | Promise<MailerSubject>): void {
  test('mailer: the next hop has a message when it resolves, each time', async t => {
    const { mailer, count } = await make()
    await mailer.send(mail)
    t.is(await count(), 1)
    await Promise.all([mailer.send(mail), mailer.send({ ...mail, to: ['bob@example.org', 'eve+x@sub.example.org'] })])
    t.is(await count(), 3)
  })

  test('mailer: letters of any script and texts of any length are taken', async t => {
    const { mailer, count } = await make()
    await mailer.send({ ...mail, subject: 'Größe 葉 🍂', text: `${'葉'.repeat(5000)}\n`.repeat(5) })
    await mailer.send({ ...mail, subject: '', text: '' })
    t.is(await count(), 2)
  })

  test('mailer: a line break in the subject or an address is refused, and nothing is sent', async t => {
    const { mailer, count } = await make()
    for (const end of ['\n', '\r', '\r\n', '\u0000', '\u000b', '\u0085', '\u2028'].map(character => `${character}Bcc: eve@example.org`)) {
      await t.throwsAsync(mailer.send({ ...mail, subject: `Hello${end}` }), { instanceOf: Invalid }, JSON.stringify(end))
      await t.throwsAsync(mailer.send({ ...mail, to: [`ann@example.org${end}`] }), { instanceOf: Invalid }, JSON.stringify(end))
      await t.throwsAsync(mailer.send({ ...mail, to: ['ann@example.org', `${end}@example.org`] }), { instanceOf: Invalid })
    }
    t.is(await count(), 0)
  })

  test('mailer: a recipient is one bare address, and there is one at least', async t => {
    const { mailer, count } = await make()
    const wrong = [
      ...['', 'ann', '@example.org', 'ann@', 'ann@example.org, eve@example.org', 'ann@example.org;eve@example.org'],
      ...[
        'Ann <ann@example.org>',
        '<ann@example.org>',
        'ann@example.org eve@example.org',
        'a"b@example.org',
        `${'x'.repeat(300)}@example.org`,
      ],
    ]
    for (const address of wrong) await t.throwsAsync(mailer.send({ ...mail, to: [address] }), { instanceOf: Invalid }, address)
    await t.throwsAsync(mailer.send({ ...mail, to: [] }), { instanceOf: Invalid })
    t.is(await count(), 0)
  })
}
