import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { prettyLine } from '../cli/pretty-log.ts'
import { createLog, logDestination } from './log.ts'

test('fields named like secrets are hidden, at any depth and in errors', t => {
  const { log, lines } = recordingLog()
  log.info('in', {
    password: 'p1',
    apiKey: 'p2',
    'X-API-Key': 'p3',
    headers: { Cookie: 'p4', authorization: 'p5', accept: 'kept' },
    nested: [{ accessToken: 'p6', clientSecret: 'p7' }],
    error: Object.assign(new Error('GET /api/files?key=p8 failed', { cause: new Error('amqp://guest:p9@host') }), { code: 'E1' }),
  })
  const text = JSON.stringify(lines)
  t.notRegex(text, /p\d/)
  t.regex(text, /kept/)
  t.like(lines[0], { level: 'info', message: 'in', error: { code: 'E1', message: 'GET /api/files?key=[hidden] failed' } })
})

test('keys in addresses are hidden in messages and fields', t => {
  const { log, lines } = recordingLog()
  log.warn('GET /api/files?limit=2&key=s3cret&x=1', { url: new URL('https://h/x?api_key=s3cret#a'), path: '/login?token=s3cret' })
  t.notRegex(JSON.stringify(lines), /s3cret/)
  t.is(lines[0]?.['message'], 'GET /api/files?limit=2&key=[hidden]&x=1')
})

test('fixed fields are in every line, and lines below the level are not written', t => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', stream: { write: line => void lines.push(line) } }).with({ plugin: 'a.b' })
  log.info('quiet')
  log.error('loud', { error: new Error('because') })
  t.is(lines.length, 1)
  t.like(JSON.parse(lines[0] ?? ''), { plugin: 'a.b', level: 'error', message: 'loud', error: { message: 'because' } })
})

test('values that JSON cannot represent do not break a line', t => {
  const { log, lines } = recordingLog()
  const circle: Record<string, unknown> = { big: 12n, bytes: Buffer.from('abc'), map: new Map([['a', 1]]), set: new Set([1]) }
  circle['self'] = circle
  log.info('odd', circle)
  t.like(lines[0], { big: '12', bytes: '3 bytes', map: { a: 1 }, set: [1] })
})

test('pretty output shows control characters instead of sending them to the terminal', t => {
  const { log, lines } = recordingLog()
  log.warn('name \u001b[31m\nsecond', { file: 'a\u0007b\u009bc' })
  const line = prettyLine(JSON.stringify(lines[0]))
  t.regex(line, /name \\u001b\[31m\\u000asecond file=a\\u0007b\\u009bc/)
  t.is(line.trimEnd().split('\n').length, 1)
})

test('pretty output has the plugin and the error with its stack', t => {
  const { log, lines } = recordingLog()
  log.with({ plugin: 'a.b' }).error('It failed', { error: new Error('no disk') })
  t.regex(prettyLine(JSON.stringify(lines[0])), /a\.b: It failed · no disk\n {4}at /)
})

test('a log that cannot be written, as on a full disk, throws no error', t => {
  const log = createLog({ level: 'info', stream: logDestination(openSync('/dev/full', 'w')) })
  for (let time = 0; time < 3000; time++) t.notThrows(() => log.info('x'.repeat(1000)))
})

test('lines are in the file when the call returns', async t => {
  const file = join(await tempFolder(t), 'log')
  createLog({ level: 'info', stream: logDestination(openSync(file, 'w')) }).info('written')
  t.regex(readFileSync(file, 'utf8'), /"message":"written"/)
})
