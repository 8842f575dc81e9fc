import test, { type ExecutionContext } from 'ava'
import { type Log, type Policy, port, type Route, ref, routesFor, s } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { Container } from '../kernel/container.ts'
import { callers, hiddenId, ownId, seenId, TestPolicy } from './testing/people.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('datasets', {})
const params = s.Object({ id: s.id() })
const done = async (): Promise<{ status: 200; body: string }> => ({ status: 200, body: 'done' })
const responses = { 200: s.text() }

const routes: Record<string, Route> = {
  view: route({
    method: 'GET',
    path: '/api/datasets/:id',
    summary: 'x',
    permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
    params,
    responses,
    handle: done,
  }),
  edit: route({
    method: 'PUT',
    path: '/api/datasets/:id',
    summary: 'x',
    permission: { right: 'EditDataset', on: ref('dataset', 'id') },
    params,
    body: s.Object({ name: s.line() }),
    responses,
    handle: done,
  }),
  move: route({
    method: 'POST',
    path: '/api/datasets/:id/move/:space',
    summary: 'x',
    permission: { right: 'EditDataset', on: ref('dataset', 'id') },
    alsoRequires: [{ right: 'AddResourceToSpace', on: ref('space', 'space') }],
    params: s.Object({ id: s.id(), space: s.id() }),
    responses,
    handle: done,
  }),
  batch: route({
    method: 'POST',
    path: '/api/datasets/batch',
    summary: 'x',
    permission: { right: 'DeleteDataset', on: ({ ids }) => ids.map(id => ({ kind: 'dataset', id })) },
    query: s.Object({ ids: s.repeated(s.id()) }),
    responses,
    handle: done,
  }),
  some: route({
    method: 'POST',
    path: '/api/datasets/some',
    summary: 'x',
    permission: { right: 'DeleteDataset', on: ({ ids = [] }) => ids.map(id => ({ kind: 'dataset', id })) },
    query: s.Object({ ids: s.Optional(s.repeated(s.id())) }),
    responses,
    handle: done,
  }),
  upload: route({
    method: 'POST',
    path: '/api/files/upload',
    summary: 'x',
    permission: { right: 'AddFile', on: ref('dataset', 'dataset_id') },
    query: s.Object({ dataset_id: s.id() }),
    responses,
    handle: done,
  }),
  create: route({
    method: 'POST',
    path: '/api/datasets',
    summary: 'x',
    permission: { right: 'CreateDataset', unscoped: 'The dataset is new.' },
    responses,
    handle: done,
  }),
  read: route({ method: 'GET', path: '/api/read', summary: 'x', permission: 'reader', responses, handle: done }),
  me: route({
    method: 'GET',
    path: '/api/me',
    summary: 'x',
    permission: 'signedIn',
    beforeTerms: true,
    responses,
    handle: async ({ caller }) => ({ status: 200, body: caller.user?.email ?? caller.via }),
  }),
  admin: route({ method: 'POST', path: '/api/admin', summary: 'x', permission: 'serverAdmin', responses, handle: done }),
  page: route({
    method: 'GET',
    path: '/page',
    summary: 'x',
    permission: 'anyone',
    ignoresCredentials: true,
    responses,
    handle: async ({ caller }) => ({ status: 200, body: caller.via }),
  }),
  drop: route({
    method: 'GET',
    path: '/api/drop',
    summary: 'x',
    permission: 'signedIn',
    effects: 'removes',
    neverByCookie: true,
    responses,
    handle: done,
  }),
}

interface Ask {
  readonly method?: string
  readonly path: string
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const server = async (t: ExecutionContext, isPrivate = false) => {
  const policy = new TestPolicy(isPrivate)
  const { url } = await serve(t, routes, { policy: policy as unknown as Policy, callers })
  const ask = async ({
    method = 'GET',
    path,
    key,
    headers = {},
    body,
  }: Ask): Promise<{ status: number; text: string; code: string; headers: Headers }> => {
    const all = { ...headers, ...(key ? { 'x-api-key': key } : {}), ...(body ? { 'content-type': 'application/json' } : {}) }
    const response = await fetch(url + path, { method, headers: all, ...(body ? { body } : {}) })
    const text = await response.text()
    const code = response.ok ? '' : String((JSON.parse(text) as { code: unknown }).code)
    // The request id differs in each response.
    return { status: response.status, text: text.replace(/"requestId":"\w+"/, ''), code, headers: response.headers }
  }
  return { ask, policy }
}

test('a caller with the right is served', async t => {
  const { ask } = await server(t)
  t.is((await ask({ path: `/api/datasets/${ownId}`, key: 'ann' })).text, 'done')
  t.is((await ask({ method: 'PUT', path: `/api/datasets/${ownId}`, key: 'ann', body: '{"name":"x"}' })).text, 'done')
})

test('visible but not allowed is 403; invisible, unknown and malformed ids get the same 404', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'PUT', path: `/api/datasets/${seenId}`, key: 'ann', body: '{"name":"x"}' })).status, 403)
  const answers = await Promise.all(
    [hiddenId, '0'.repeat(24), 'malformed', '%00', 'A'.repeat(24)].map(id => ask({ path: `/api/datasets/${id}`, key: 'ann' })),
  )
  t.deepEqual(new Set(answers.map(answer => `${answer.status} ${answer.text}`)).size, 1)
  t.is(answers[0]?.status, 404)
})

test('callers who have not accepted the terms are refused except where the terms are shown', async t => {
  const { ask } = await server(t)
  for (const key of ['newcomer', 'admin%20in%20waiting'])
    for (const more of ['', '&superAdmin=true']) {
      for (const path of [
        '/api/read',
        `/api/datasets/${ownId}`,
        `/api/datasets/${hiddenId}`,
        '/api/datasets/nonsense',
        '/api/drop',
        '/api/admin',
      ]) {
        const method = path === '/api/admin' ? 'POST' : 'GET'
        const answer = await ask({ method, path: `${path}?key=${key}${more}` })
        t.is(answer.status, 403, path)
        t.is(answer.code, 'terms-not-accepted')
        t.regex(answer.text, /Terms of Service not accepted/)
      }
      t.is((await ask({ path: `/api/me?key=${key}${more}` })).text, 'new@example.org')
      t.is((await ask({ path: `/page?key=${key}${more}` })).text, 'nothing')
    }
})

test('an anonymous change is 401, whatever its resource and body', async t => {
  const { ask } = await server(t)
  const texts = new Set<string>()
  for (const id of [seenId, hiddenId, 'malformed']) {
    for (const body of ['{"name":"x"}', '{"name":']) {
      const { status, text } = await ask({ method: 'PUT', path: `/api/datasets/${id}`, body })
      t.is(status, 401)
      texts.add(text)
    }
  }
  t.is(texts.size, 1)
})

test('anonymous callers can read on a public server, and get 404 for absent resources', async t => {
  const { ask } = await server(t)
  t.is((await ask({ path: `/api/datasets/${seenId}` })).status, 200)
  t.is((await ask({ path: `/api/datasets/${hiddenId}` })).status, 404)
  t.is((await ask({ path: '/api/datasets/malformed' })).status, 404)
  t.is((await ask({ path: '/api/read' })).status, 200)
})

test('a private server returns 401 for all anonymous requests', async t => {
  const { ask } = await server(t, true)
  const answers = await Promise.all([seenId, hiddenId, 'malformed'].map(id => ask({ path: `/api/datasets/${id}` })))
  t.deepEqual([...new Set(answers.map(answer => `${answer.status} ${answer.text}`))].length, 1)
  t.is(answers[0]?.status, 401)
  t.is((await ask({ path: '/api/read' })).status, 401)
  t.is((await ask({ path: '/api/read', key: 'ann' })).status, 200)
})

test('both ends of a move are checked', async t => {
  const { ask, policy } = await server(t)
  const path = `/api/datasets/${ownId}/move/${seenId}`
  t.is((await ask({ method: 'POST', path, key: 'ann' })).status, 403)
  t.deepEqual(policy.requested, [
    { kind: 'dataset', id: ownId, permission: 'EditDataset' },
    { kind: 'space', id: seenId, permission: 'AddResourceToSpace' },
  ])
  t.is((await ask({ method: 'POST', path: `/api/datasets/${ownId}/move/${ownId}`, key: 'ann' })).status, 200)
})

test('each resource of a batch is checked', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'POST', path: `/api/datasets/batch?ids=${ownId}`, key: 'ann' })).status, 200)
  t.is((await ask({ method: 'POST', path: `/api/datasets/batch?ids=${ownId}&ids=${seenId}`, key: 'ann' })).status, 403)
  t.is((await ask({ method: 'POST', path: `/api/datasets/batch?ids=${ownId}&ids=${hiddenId}`, key: 'ann' })).status, 404)
})

test('a batch without the parameter that names its resources is an invalid request', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'POST', path: '/api/datasets/batch', key: 'ann' })).status, 400)
  t.is((await ask({ method: 'POST', path: '/api/datasets/batch' })).status, 401)
})

test('a right on a list of resources that is empty is required as such', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'POST', path: '/api/datasets/some', key: 'ann' })).status, 200)
  t.is((await ask({ method: 'POST', path: '/api/datasets/some', key: 'inactive' })).status, 403)
  t.is((await ask({ method: 'POST', path: '/api/datasets/some' })).status, 401)
  t.is((await ask({ method: 'POST', path: `/api/datasets/some?ids=${seenId}`, key: 'ann' })).status, 403)
})

test('a resource in the query is checked like one in the path; a missing parameter is 400', async t => {
  const { ask } = await server(t)
  const path = '/api/files/upload'
  t.is((await ask({ method: 'POST', path: `${path}?dataset_id=${ownId}`, key: 'ann' })).status, 200)
  t.is((await ask({ method: 'POST', path: `${path}?dataset_id=${seenId}`, key: 'ann' })).status, 403)
  const malformed = await ask({ method: 'POST', path: `${path}?dataset_id=x`, key: 'ann' })
  const unknown = await ask({ method: 'POST', path: `${path}?dataset_id=${hiddenId}`, key: 'ann' })
  t.deepEqual([malformed.status, malformed.text], [unknown.status, unknown.text])
  const missing = await ask({ method: 'POST', path, key: 'ann' })
  t.is(missing.status, 400)
  t.regex(missing.text, /dataset_id is required: an id/)
  t.is((await ask({ method: 'POST', path })).status, 401)
})

test('a right without a resource is checked with the policy', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'POST', path: '/api/datasets', key: 'ann' })).status, 200)
  t.is((await ask({ method: 'POST', path: '/api/datasets', key: 'inactive' })).status, 403)
  t.is((await ask({ method: 'POST', path: '/api/datasets' })).status, 401)
})

test('routes that require an account require an active one', async t => {
  const { ask } = await server(t)
  t.is((await ask({ path: '/api/me' })).status, 401)
  t.is((await ask({ path: '/api/me', key: 'inactive' })).status, 403)
  t.is((await ask({ path: '/api/me', key: 'service' })).text, 'service')
  t.is((await ask({ path: '/api/me', key: 'ann' })).text, 'ann@example.org')
})

test('routes for server admins refuse extraction keys', async t => {
  const { ask } = await server(t)
  const statuses = await Promise.all(
    [undefined, 'ann', 'extractor', 'admin'].map(
      async key => (await ask({ method: 'POST', path: '/api/admin', ...(key ? { key } : {}) })).status,
    ),
  )
  t.deepEqual(statuses, [401, 403, 403, 200])
})

test('each kind of credential is read', async t => {
  const { ask } = await server(t)
  const basic = Buffer.from('ann:secret').toString('base64')
  for (const headers of [
    { authorization: `Basic ${basic}` },
    { authorization: 'bearer ann' },
    { cookie: 'other=1; __Host-pounce_session=fresh' },
  ]) {
    t.is((await ask({ path: '/api/me', headers })).status, 200, JSON.stringify(headers))
  }
  t.is((await ask({ path: '/api/me?key=ann' })).status, 200)
  t.is((await ask({ path: '/api/me?k%65y=ann' })).status, 200)
})

test('callers with an invalid credential are treated as anonymous', async t => {
  const { ask } = await server(t)
  const wrong = ['Basic !!!', 'Basic', 'Digest x', `Basic ${Buffer.from('ann:wrong').toString('base64')}`]
  for (const path of ['/api/read', `/api/datasets/${seenId}`]) {
    for (const authorization of wrong) t.is((await ask({ path, headers: { authorization } })).status, 200, authorization)
    for (const more of ['?key=wrong', '?key=']) t.is((await ask({ path: path + more })).status, 200, more)
    t.is((await ask({ path, key: 'wrong' })).status, 200)
    t.is((await ask({ path, headers: { cookie: '__Host-pounce_session=stale' } })).status, 200)
  }
})

test('if an anonymous caller would be refused or get 404, an invalid credential is reported', async t => {
  for (const isPrivate of [false, true]) {
    const { ask } = await server(t, isPrivate)
    const refused: readonly Ask[] = [
      { path: '/api/me' },
      { path: '/api/me?x=1' },
      { path: `/api/datasets/${hiddenId}` },
      { path: '/api/datasets/malformed' },
      { method: 'POST', path: '/api/datasets' },
      { method: 'POST', path: '/api/admin' },
      { method: 'PUT', path: `/api/datasets/${seenId}`, body: '{"name":' },
      ...(isPrivate ? [{ path: '/api/read' }, { path: `/api/datasets/${seenId}` }] : []),
    ]
    for (const each of refused)
      for (const headers of [{ 'x-api-key': 'wrong' }, { authorization: 'Digest x' }]) {
        const { status, text } = await ask({ ...each, headers })
        t.is(status, 401, each.path)
        t.regex(text, /Invalid credentials|must be Basic or Bearer/)
      }
  }
})

test('an unparseable header does not take precedence over a valid key', async t => {
  const { ask } = await server(t)
  for (const authorization of ['Basic !!!', 'Basic', 'Digest x'])
    t.is((await ask({ path: '/api/me', key: 'ann', headers: { authorization } })).text, 'ann@example.org', authorization)
})

test('a page that ignores credentials is served with an invalid one', async t => {
  const { ask } = await server(t)
  t.is((await ask({ path: '/page?key=wrong', headers: { cookie: '__Host-pounce_session=stale' } })).text, 'nothing')
})

test('the cookie of a refused stale session is deleted', async t => {
  const { ask } = await server(t)
  const { status, headers } = await ask({ path: '/api/me', headers: { cookie: '__Host-pounce_session=stale' } })
  t.is(status, 401)
  t.regex(headers.get('set-cookie') ?? '', /^__Host-pounce_session=; .*Max-Age=0/)
  t.is(headers.get('www-authenticate'), null)
})

test('superadmin mode is requested by query or cookie', async t => {
  const { ask } = await server(t)
  t.is((await ask({ path: `/api/datasets/${hiddenId}`, key: 'admin' })).status, 404)
  t.is((await ask({ path: `/api/datasets/${hiddenId}?superAdmin=true`, key: 'admin' })).status, 200)
  t.is((await ask({ path: `/api/datasets/${hiddenId}`, key: 'admin', headers: { cookie: 'superAdmin=true' } })).status, 200)
  t.is((await ask({ path: `/api/datasets/${hiddenId}?superAdmin=true`, key: 'ann' })).status, 404)
})

test('a session can only make changes from a page of this server', async t => {
  const { ask } = await server(t)
  const change = async (headers: Record<string, string>): Promise<string> =>
    (await ask({ method: 'POST', path: '/api/datasets', headers: { cookie: '__Host-pounce_session=fresh', ...headers } })).code
  t.is(await change({ origin: 'https://data.example.org' }), '')
  t.is(await change({ referer: 'https://data.example.org/page?x=1' }), '')
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { referer: 'https://data.example.org.evil.example/' },
    { origin: 'https://data.example.org:8443' },
  ]) {
    t.is(await change(headers as Record<string, string>), 'cross-origin', JSON.stringify(headers))
  }
  t.is((await ask({ path: '/api/me', headers: { cookie: '__Host-pounce_session=fresh', origin: 'https://evil.example' } })).status, 200)
})

test('a key needs no origin', async t => {
  const { ask } = await server(t)
  t.is((await ask({ method: 'POST', path: '/api/datasets', key: 'ann', headers: { origin: 'https://evil.example' } })).status, 200)
})

test('a GET that changes something can refuse cookies', async t => {
  const { ask } = await server(t)
  const cookie = '__Host-pounce_session=fresh'
  t.is((await ask({ path: '/api/drop', headers: { cookie } })).status, 403)
  t.is((await ask({ path: '/api/drop', key: 'ann' })).status, 200)
  t.is((await ask({ path: '/api/drop', key: 'ann', headers: { cookie } })).status, 200)
})

test('the key or password of a program is used where the session beside it would be refused', async t => {
  const { ask } = await server(t)
  const change = async (headers: Record<string, string>, query = ''): Promise<string> => {
    const answer = await ask({
      method: 'POST',
      path: `/api/datasets${query}`,
      headers: { cookie: '__Host-pounce_session=fresh', ...headers },
    })
    return answer.code || answer.text
  }
  t.is(await change({ 'x-api-key': 'ann' }), 'done')
  t.is(await change({ authorization: `Basic ${btoa('ann:secret')}` }), 'done')
  t.is(await change({ authorization: 'Bearer ann' }), 'done')
  t.is(await change({}, '?key=ann'), 'done')
  t.is(await change({ 'x-api-key': 'wrong' }), 'not-signed-in')
  t.is(await change({ authorization: 'Digest x' }), 'cross-origin')
  // A browser may add a cached password by itself.
  const password = { authorization: `Basic ${btoa('ann:secret')}` }
  t.is(await change({ ...password, origin: 'https://evil.example' }), 'cross-origin')
  t.is(await change({ ...password, 'sec-fetch-site': 'same-site' }), 'cross-origin')
  t.is((await ask({ path: '/api/me', key: 'admin', headers: { cookie: '__Host-pounce_session=fresh' } })).text, 'ann@example.org')
})

test('without accounts every credential is refused, and public routes work without one', async t => {
  const { url } = await serve(t, { page: routes['page'] as Route, me: routes['me'] as Route })
  t.is((await fetch(`${url}/api/me`)).status, 401)
  t.is((await fetch(`${url}/api/me`, { headers: { 'x-api-key': 'ann' } })).status, 401)
  t.is((await fetch(`${url}/page`)).status, 200)
})

const texts = { 200: s.Array(s.String()) }

test('a handler resolves values of its own request, and services of the kernel', async t => {
  const own = {
    look: route({
      method: 'GET',
      path: '/api/look',
      summary: 'x',
      permission: 'anyone',
      responses: texts,
      async handle(request) {
        const known = [request.resolve(port<string>('requestId')), request.resolve(port<{ via: string }>('caller')).via]
        return { status: 200, body: [...known, request.resolve(port<string>('clock'))] }
      },
    }),
  }
  const kernel = new Container(new Map([['clock', 'the clock']]), [])
  const { url } = await serve(t, own, { options: { openScope: values => kernel.requestScope(values) } })
  const answer = await fetch(`${url}/api/look`)
  t.deepEqual(await answer.json(), [answer.headers.get('x-request-id'), 'nothing', 'the clock'])
})

test('log lines of a handler have the request id', async t => {
  const lines: unknown[] = []
  const log: Log = { ...silent, info: (message, fields) => lines.push([message, fields]) }
  const own = {
    say: route({
      method: 'GET',
      path: '/api/say',
      summary: 'x',
      permission: 'anyone',
      responses: texts,
      async handle(request) {
        request.log.info('said', { more: 1 })
        return { status: 200, body: [] }
      },
    }),
  }
  const { url } = await serve(t, own, { options: { log } })
  const answer = await fetch(`${url}/api/say`)
  t.deepEqual(
    lines.filter(line => Array.isArray(line) && line[0] === 'said'),
    [['said', { requestId: answer.headers.get('x-request-id'), more: 1 }]],
  )
})
