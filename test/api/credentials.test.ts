import { request } from 'node:http'
import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { basic, byCookie, newKey, newPerson, type Person, signIn } from '../support/people.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
let server: TestServer
let ann: Person
let bob: Person
let cookie: string

test.before(async () => {
  const users = { failuresPerAccount: 1000, failuresPerAddress: 100_000, wrongKeysPerAddress: 100_000 }
  server = await bootForTest({ plugins, config: { http: { allowedHosts: ['*'] }, resources: { users } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  cookie = await signIn(server, ann.email, ann.password)
})
test.after.always(() => server?.stop())

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Sends header lines unchanged, including duplicate names. */
const raw = (path: string, lines: readonly (readonly [string, string])[], method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const headers = lines.some(([name]) => name === 'Host') ? lines.flat() : [...lines.flat(), 'Host', `${hostname}:${port}`]
    const sent = request({ hostname, port, path, method, headers, agent: false, setHost: false }, answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => {
        text += piece
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }))
    })
    sent.on('error', reject)
    sent.end()
  })

/** Sends a credential in each supported place. */
const places: Readonly<Record<string, (credential: string) => Promise<number>>> = {
  'X-API-Key': async key => (await raw('/api/me', [['X-API-Key', key]])).status,
  '?key=': async key => (await raw(`/api/me?key=${encodeURIComponent(key)}`, [])).status,
  Bearer: async token => (await raw('/api/me', [['Authorization', `Bearer ${token}`]])).status,
  'a session': async token => (await raw('/api/me', [['Cookie', `pounce_session=${token}`]])).status,
  'a password': async password => (await raw('/api/me', [['Authorization', basic(ann.email, password)]])).status,
  'an address': async email => (await raw('/api/me', [['Authorization', basic(email, ann.password)]])).status,
}

const wrongOf = (right: string): Readonly<Record<string, string>> => ({
  unknown: 'ffffffff-ffff-4fff-8fff-ffffffffffff',
  'cut short': right.slice(0, -1),
  'longer by one': `${right}0`,
  doubled: right + right,
  'upside down': [...right].reverse().join(''),
  'very long': 'a'.repeat(8000),
  'an operator': '{"$ne":null}',
  'a wildcard': '*',
  'a statement': "' OR 1=1 --",
  'a hash of it': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'a prefix with a mask': `${right.slice(0, 8)}-****`,
  'beyond ASCII': '\u00fc\u00df\u00ff',
  'the name of a member': '__proto__',
})

test('an invalid credential is refused wherever it is sent, and never treated as anonymous', async t => {
  const right: Readonly<Record<string, string>> = {
    'a session': cookie.slice('pounce_session='.length),
    'a password': ann.password,
    'an address': ann.email,
  }
  const faults: string[] = []
  for (const [place, send] of Object.entries(places))
    for (const [fault, credential] of Object.entries(wrongOf(right[place] ?? ann.key))) {
      const status = await send(credential)
      if (status !== 401) faults.push(`${place}, ${fault}: ${status}`)
    }
  t.deepEqual(faults, [])
})

test('a valid credential is accepted only where its kind is expected, and no bearer token is', async t => {
  t.is(await places['X-API-Key']!(ann.key), 200)
  t.is(await places['?key=']!(ann.key), 200)
  t.is(await places['a password']!(ann.password), 200)
  t.is(await places['a session']!(cookie.slice('pounce_session='.length)), 200)
  const strays = [
    places['Bearer']!(ann.key),
    places['a session']!(ann.key),
    places['a password']!(ann.key),
    places['X-API-Key']!(ann.password),
  ]
  t.deepEqual(await Promise.all(strays), [401, 401, 401, 401])
  t.is(await places['X-API-Key']!(cookie.slice('pounce_session='.length)), 401)
  t.is(await places['X-API-Key']!(server.admin.password), 401)
})

test('a wrong credential is ignored where anonymous callers are allowed', async t => {
  const open = `/api/users/${ann.id}`
  const absent = `/api/users/${'f'.repeat(24)}`
  const shown = await raw(open, [])
  t.is((await raw(absent, [])).status, 404)
  for (const lines of [
    [['X-API-Key', 'None']],
    [['Authorization', 'Bearer wrong']],
    [['Authorization', 'Negotiate abc']],
    [['Authorization', basic(ann.email, 'wrong')]],
    [['Authorization', basic('None', 'None')]],
    [['Cookie', 'pounce_session=wrong']],
  ] as const) {
    const answer = await raw(open, lines)
    t.deepEqual([answer.status, answer.text], [200, shown.text], lines[0].join(': '))
    t.is((await raw(absent, lines)).status, 401, lines[0].join(': '))
  }
  t.is((await raw(`${open}?key=None`, [])).status, 200)
  t.is((await raw(`${absent}?key=None`, [])).status, 401)
})

const idOf = ({ text }: Answer) => (JSON.parse(text) as { id: string }).id

test('of several valid credentials the first is used, in the order session, password, header, query', async t => {
  const session = ['Cookie', cookie] as const
  const password = ['Authorization', basic(bob.email, bob.password)] as const
  t.is(idOf(await raw('/api/me', [session, password])), ann.id)
  t.is(idOf(await raw('/api/me', [password, ['X-API-Key', ann.key]])), bob.id)
  t.is(idOf(await raw(`/api/me?key=${ann.key}`, [['X-API-Key', bob.key]])), bob.id)
  t.is(idOf(await raw(`/api/me?key=${ann.key}`, [password])), bob.id)
})

test('a valid credential is used even if one of higher precedence is wrong', async t => {
  const wrong = {
    session: ['Cookie', 'pounce_session=wrong'],
    password: ['Authorization', basic(bob.email, 'wrong')],
    nobody: ['Authorization', basic('None', 'None')],
    junk: ['Authorization', 'Bearer junk'],
    header: ['X-API-Key', 'None'],
  } as const
  const byQuery = `/api/me?key=${ann.key}`
  for (const line of Object.values(wrong)) t.is(idOf(await raw(byQuery, [line])), ann.id, line.join(': '))
  t.is(idOf(await raw(byQuery, [wrong.session, wrong.nobody, wrong.header])), ann.id)
  t.is(idOf(await raw('/api/me?key=None', [wrong.nobody, ['X-API-Key', ann.key]])), ann.id)
  t.is(idOf(await raw('/api/me?key=None', [wrong.session, ['Authorization', basic(bob.email, bob.password)]])), bob.id)
  t.is((await raw('/api/me?key=None', [wrong.session, wrong.nobody, wrong.header])).status, 401)
  const twice = [wrong.nobody, ['Authorization', basic(bob.email, bob.password)]] as const
  t.is(idOf(await raw(byQuery, twice)), ann.id)
})

test('an inactive account is refused even with a valid key of another one', async t => {
  const idle = await newPerson(server, 'idle')
  await server.get(Users).change(idle.id, { set: { status: 'Inactive' } }, [])
  const password = ['Authorization', basic(idle.email, idle.password)] as const
  const answer = await raw(`/api/users/${ann.id}`, [password, ['X-API-Key', ann.key]])
  t.is(answer.status, 401)
  t.regex(answer.text, /not activated/)
})

test('two different credentials of one kind are refused', async t => {
  t.is(
    (
      await raw('/api/me', [
        ['X-API-Key', ann.key],
        ['X-API-Key', bob.key],
      ])
    ).status,
    401,
  )
  t.is((await raw(`/api/me?key=${ann.key}&key=${bob.key}`, [])).status, 401)
  t.is((await raw('/api/me', [['Cookie', `${cookie}; pounce_session=planted`]])).status, 401)
  t.is((await raw('/api/me', [['Cookie', `pounce_session=planted; ${cookie}`]])).status, 401)
  t.is(
    (
      await raw('/api/me', [
        ['Authorization', basic(ann.email, ann.password)],
        ['Authorization', basic(bob.email, bob.password)],
      ])
    ).status,
    401,
  )
})

test('an expired credential gets 401', async t => {
  const person = await newPerson(server, 'ended')
  const key = await newKey(server, person.email, person.password, 'name=gone')
  const session = await signIn(server, person.email, person.password)
  t.is((await person.call('/api/users/keys/gone', { method: 'DELETE' })).status, 204)
  t.is((await byCookie(server, session)('/api/logout', { method: 'POST' })).status, 200)
  t.is((await server.as(key)('/api/me')).status, 401)
  t.is((await server.as()(`/api/me?key=${key}`)).status, 401)
  t.is((await byCookie(server, session)('/api/me')).status, 401)
  const { passwordHash } = (await server.get(Users).get(bob.id))!
  await server.get(Users).change(person.id, { set: { passwordHash } }, [])
  t.is((await server.as()('/api/me', { headers: { authorization: basic(person.email, person.password) } })).status, 401)
})

test('credentials of another installation are refused', async t => {
  const other = await bootForTest({ t, plugins })
  const session = await signIn(other, other.admin.email, other.admin.password)
  t.is((await server.as(other.admin.key)('/api/me')).status, 401)
  t.is((await byCookie(server, session)('/api/me')).status, 401)
})

test('characters forbidden in headers cannot be injected through a credential', async t => {
  for (const value of [`${ann.key}\r\nX-API-Key: ${server.admin.key}`, `${ann.key}\n`, `${ann.key}\u0000`])
    await t.throwsAsync(async () => raw('/api/me', [['X-API-Key', value]]), { code: 'ERR_INVALID_CHAR' })
  for (const key of [`${ann.key}\r\nSet-Cookie: a=b`, `${ann.key}\n`, `${ann.key}\u0000`, ` ${ann.key}x`]) {
    const answer = await raw(`/api/me?key=${encodeURIComponent(key)}`, [])
    t.is(answer.status, 401)
    t.is(answer.headers['set-cookie'], undefined)
  }
})

test('no response contains a key: not in links, errors, redirects or headers', async t => {
  const key = server.admin.key
  const paths = [
    '/api/users?limit=1',
    '/api/users?limit=x',
    '/api/nowhere',
    `/api/users/${'f'.repeat(24)}`,
    '/api/users?after=junk',
    '/api/me',
    '/%zz',
  ]
  for (const path of paths) {
    const joined = `${path}${path.includes('?') ? '&' : '?'}key=${key}`
    for (const [sent, lines] of [
      [joined, []],
      [joined, [['Accept', 'application/problem+json']]],
      [path, [['X-API-Key', key]]],
    ] as const) {
      const { headers, text } = await raw(sent, lines)
      t.false(`${JSON.stringify(headers)} ${text}`.includes(key), sent)
    }
  }
  const { headers } = await raw(`/api/users?limit=1&key=${key}&superAdmin=true`, [])
  t.regex(String(headers['link']), /rel="next"/)
})

test('links start with the configured address, whatever host the client sends', async t => {
  for (const lines of [
    [['Host', 'evil.example']],
    [['X-Forwarded-Host', 'evil.example']],
    [
      ['X-Forwarded-Proto', 'gopher'],
      ['X-Forwarded-Port', '666'],
      ['X-Forwarded-Prefix', '/evil'],
    ],
    [['Forwarded', 'host=evil.example;proto=gopher']],
    [
      ['X-Original-URL', '/api/admin'],
      ['X-Rewrite-URL', '/api/admin'],
    ],
  ] as const) {
    const { status, headers, text } = await raw('/api/users?limit=1', [['X-API-Key', server.admin.key], ...lines])
    t.is(status, 200)
    t.true(String(headers['link']).startsWith(`<${server.url}/api/users?`), String(headers['link']))
    t.false(`${JSON.stringify(headers)}${text}`.includes('evil'))
  }
})
