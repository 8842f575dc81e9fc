import type { TestFn } from 'ava'
import type { Log } from '../ports/kernel.ts'

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

  test('log: fields that are named like parts of a line neither break it nor steer a terminal', t => {
    const { log, lines } = make()
    const names = ['time', 'level', 'message', 'plugin', 'error', 'msg', 'pid', '__proto__', 'constructor', 'toJSON']
    const values = [
      '2026-01-01 \u001b[2J\u001b[31m\n',
      { toString: 1, stack: { toString: 1 }, message: { toString: 1 } },
      ['\u001b[2J'],
      7,
      null,
    ]
    const all = names.flatMap(name => values.map(value => Object.fromEntries([[name, value]])))
    for (const fields of all) t.notThrows(() => log.warn('It happened', fields))
    t.is(lines().length, all.length)
    t.notRegex(lines().join(''), /[\u0000-\u001f]/)
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
