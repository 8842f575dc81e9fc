import test from 'ava'
import { adminKey, childAdmin, childServer, dataFolder } from './support/child-server.ts'
import { basic } from './support/people.ts'

test('no output of a server contains a credential, valid or not, however it was sent', async t => {
  const server = await childServer(t, await dataFolder(t), { POUNCE_LOG__LEVEL: 'debug', POUNCE_HTTP__SLOW_REQUEST_MS: '1' })
  const key = await adminKey(server)
  const { email, password } = childAdmin
  const signedIn = await server.as()('/api/login', { method: 'POST', json: { email, password } })
  const token = /pounce_session=([\w-]+)/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
  t.is(token.length, 43)
  const [wrongKey, wrongToken, wrongPassword] = ['0wrong0key0of0somebody0', '0wrong0token0of0somebody0', '0wrong0password0of0somebody0']
  const jobKey = `job_${'0wrong0key0of0a0job0aa'.repeat(5)}`
  const me = (headers: Record<string, string>, query = '') => server.as()(`/api/me${query}`, { headers })
  const answers = await Promise.all([
    me({ 'x-api-key': key }),
    me({}, `?key=${key}`),
    me({}, `?a=1&%6bey=${key}`),
    me({ cookie: `pounce_session=${token}` }),
    me({ authorization: basic(email, password) }),
    me({ 'x-api-key': wrongKey }),
    me({}, `?key=${wrongKey}`),
    me({ 'x-api-key': jobKey }),
    me({}, `?key=${jobKey}`),
    me({ authorization: `Bearer ${wrongToken}` }),
    me({ authorization: `Basic${wrongToken}` }),
    me({ authorization: basic(email, wrongPassword) }),
    me({ cookie: `pounce_session=${wrongToken}` }),
    server.as()('/api/login', { method: 'POST', json: { email, password: wrongPassword } }),
    server.as()('/api/login', {
      method: 'POST',
      body: `{"email":"x","password":"${wrongPassword}`,
      headers: { 'content-type': 'application/json' },
    }),
    server.as()(`/setup?token=${wrongToken}`),
    server.as()(`/api/nowhere?key=${key}`),
    server.as()(`/%zz?key=${key}`),
  ])
  t.deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [200, 400, 401, 403, 404])
  for (const answer of answers) await answer.body?.cancel()
  server.signal('SIGTERM')
  const { out, err } = await server.ended
  const written = out + err
  t.true(written.split('\n').length > 15, 'every request has a line')
  for (const secret of [
    key,
    token,
    password,
    wrongKey,
    jobKey,
    wrongToken,
    wrongPassword,
    btoa(`${email}:${password}`),
    btoa(`${email}:${wrongPassword}`),
  ])
    t.false(
      written.includes(secret),
      written.split('\n').find(line => line.includes(secret)),
    )
})
