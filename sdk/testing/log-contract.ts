import type { Log } from '../ports/kernel.ts'
import { contractTest, type TestRunner } from './any-runner.ts'
import { growsLinearly } from './growth.ts'

/** A log and the lines it has written. */
export interface LogSubject {
  readonly log: Log
  /** One string per line, without line end. */
  lines(): readonly string[]
}

const secretFields = [
  ...['password', 'Password', 'newPassword', 'pass', 'pwd', 'key', 'apiKey', 'API_KEY', 'X-API-Key', 'x_api_key', 'passwordHash'],
  ...['cookie', 'Cookie', 'set-cookie', 'Set-Cookie', 'authorization', 'Authorization', 'proxy-authorization', 'Proxy-Authorization'],
  ...['token', 'accessToken', 'refresh_token', 'secret', 'clientSecret', 'passphrase', 'PASSPHRASE', 'X-Amz-Signature'],
  ...['secretKey', 'SECRET_KEY', 'privateKey', 'private-key', 'extractionKey', '_extraction_key', 'secretAccessKey'],
]
const keptFields = ['name', 'keyboard', 'keys', 'authors', 'passed', 'monkey', 'tokenCount', 'basic', 'storageKey']

const secretAddresses = [
  '/api/files?key=S3CRET',
  '/api/files?limit=2&key=S3CRET&x=1',
  '/api/files?KEY=S3CRET#part',
  'https://example.org/x?api_key=S3CRET',
  '/login?token=S3CRET',
  '/callback?state=1&code=S3CRET',
  '/reset?password=S3CRET',
  '/files#access_token=S3CRET',
  '/login?next=%2Fapi%2Ffiles%3Fkey%3DS3CRET',
  '/login?next=%2Fapi%2Ffiles%3Flimit%3D2%26key%3DS3CRET',
  'https://bytes.example.org/a/b?X-Amz-Date=1&X-Amz-Signature=S3CRET&x-amz-security-token=S3CRET',
  'amqp://guest:S3CRET@broker:5672/vhost',
  'https://ann:S3CRET@example.org/x',
  'https://ann:S3C@S3CRET@example.org/x',
  'https://:S3CRET@example.org',
  'https://S3CRET@example.org/x',
  'failed: GET http://h/a?key=S3CRET, then "http://h/b?key=S3CRET"',
]
const secretTexts = [
  ...['Authorization: Bearer S3CRET', 'authorization:bearer S3CRET', 'proxy-authorization: Basic S3CRET==', 'Authorization: S3CRET'],
  ...['sent Bearer S3CRET and waited', 'sent Basic QTpTM0NSRVQ6S3CRET= and waited', 'basic QTpTM0NSRVQ6S3CRET='],
  ...['Cookie: theme=dark; session=S3CRET', 'Set-Cookie: session=S3CRET; Path=/', 'X-API-Key: S3CRET', 'password: S3CRET'],
  ...[
    '{"secretKey":"S3CRET"}',
    '{"a":1,"secretKey" : "x\\"S3CRET","b":2}',
    "{ privateKey: 'S3CRET', b: 1 }",
    '{"password":"S3CRET',
    'one\\nkey=S3CRET',
  ],
  ...[
    '{"body":"{\\"secretKey\\":\\"S3CRET\\"}"}',
    '{\\"token\\":\\"a\\\\\\"S3CRET\\"}',
    '{"_extraction_key":"S3CRET"}',
    '{"key":"S3 S3CRET"}',
  ],
  ...['key=S3CRET', 'tried with token=S3CRET.', 'key = S3CRET', 'secret="two S3CRET words"', 'PASSWORD=S3CRET', 'token => S3CRET'],
]
const keptTexts = [
  ...[
    'https://example.org/~ann/@home?q=a',
    'mail to ann@example.org',
    '{"url":"https://example.org","mail":"ann@example.org"}',
    'code=ENOENT',
  ],
  ...[
    'previewers.basic started',
    'a basic service',
    'the unknown key: http.prot',
    'sort=name&limit=2',
    'amqp://broker:5672/vhost',
    'monkey=7',
  ],
]
/** Text that makes careless regular expressions take quadratic time. */
const slowTexts = [
  'a',
  'a-',
  'a.',
  '://',
  'a://',
  'key',
  'key=',
  'key:"',
  'key:"\\',
  '"',
  '\\',
  '\\"',
  'Bearer ',
  ' ',
  'key ',
  'Cookie:',
  '@',
  'a:@',
  '://a@',
  '?',
  '=',
]

/** The contract of Log, for any input. */
export function logContract(runner: TestRunner, make: () => LogSubject): void {
  const test = contractTest(runner)
  const levels = ['debug', 'info', 'warn', 'error'] as const

  test('log: each call writes one line with its message and its fields', t => {
    const { log, lines } = make()
    for (const level of levels) log[level](`It is ${level}`, { count: 7, name: 'Größe 葉' })
    t.is(lines().length, levels.length)
    for (const [at, level] of levels.entries())
      t.regex(lines()[at] ?? '', new RegExp(`It is ${level}.*7.*Größe 葉|7.*Größe 葉.*It is ${level}`))
  })

  test('log: the values of fields named like secrets are never written, at any level or depth', t => {
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

  test('log: secrets inside URLs are hidden wherever the URL appears', t => {
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

  test('log: secrets inside text are hidden wherever the text appears', t => {
    const { log, lines } = make()
    for (const text of secretTexts) {
      log.info(text)
      log.info('field', { text, list: [text] })
      log.error('error', { error: new Error(text, { cause: new AggregateError([new Error(text)], text) }) })
    }
    t.is(lines().length, secretTexts.length * 3)
    t.deepEqual(
      lines().filter(line => line.includes('S3CRET')),
      [],
    )
  })

  test('log: values that are not secret are written unchanged', t => {
    const { log, lines } = make()
    for (const name of keptFields) log.info('field', { [name]: 'K3PT' })
    t.deepEqual(
      lines().filter(line => !line.includes('K3PT')),
      [],
    )
    for (const text of keptTexts) log.info(text)
    t.deepEqual(
      keptTexts.filter(
        (text, at) => ![text, JSON.stringify(text).slice(1, -1)].some(form => lines()[keptFields.length + at]?.includes(form)),
      ),
      [],
    )
  })

  test('log: redaction takes linear time for any text', t => {
    const logAll = (length: number): void => {
      const { log } = make()
      for (const part of slowTexts) log.info(part.repeat(length / part.length))
    }
    t.true(growsLinearly(logAll, 50_000))
  })

  test('log: untrusted text cannot start a line or control the terminal', t => {
    const { log, lines } = make()
    const text = 'one\ntwo\r\nthree \u001b[31mred\u0007 \u0000 \b \u001b]0;title\u0007 \u007f \u0085 \u009b31m \u2028 \u2029'
    log.warn(text, { text, [`name ${text}`]: text, error: new Error(text) })
    t.is(lines().length, 1)
    t.notRegex(lines()[0] ?? '\n', /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })

  test('log: fields named like parts of a line can neither break it nor control the terminal', t => {
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

  test('log: no value causes an error', t => {
    const { log, lines } = make()
    const circle: Record<string, unknown> = { big: 12n, bytes: Buffer.from('abc'), when: new Date(Number.NaN), symbol: Symbol('s') }
    circle['self'] = circle
    const deep = Array.from({ length: 5000 }).reduce<unknown>(inner => ({ inner }), 'end')
    const odd = [circle, deep, undefined, null, Number.NaN, () => undefined, Object.create(null), new Error(''), 'x'.repeat(100_000)]
    for (const value of odd) t.notThrows(() => log.error('odd', { value, error: value }))
    t.is(lines().length, odd.length)
  })

  test('log: logging does not modify the logged values', t => {
    const fields = { password: 'p', headers: { cookie: 'c' }, list: ['/x?key=k'] }
    make().log.info('x', fields)
    t.deepEqual(fields, { password: 'p', headers: { cookie: 'c' }, list: ['/x?key=k'] })
  })
}
