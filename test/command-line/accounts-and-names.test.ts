import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import test from 'ava'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { codeAt } from '../support/authenticator.ts'
import { signedInComputer, storedKey, userComputer } from '../support/command-line.ts'
import { newKey } from '../support/people.ts'
import { reverseProxy } from '../support/reverse-proxy.ts'
import { withTotp } from '../support/second-factors.ts'
import { newCollection, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
test.after.always(() => server.stop())

test('signing in with the URL of a page creates a key that only its owner can read, and signing out revokes it', async t => {
  const ada = await somebody(server)
  const proxy = await reverseProxy(t, server.url, '/data/pounce')
  const computer = await userComputer(t)
  const page = `${proxy.url}/datasets/5f4d3a2b1c0d9e8f7a6b5c4d?tab=files`
  const signedIn = await computer.run(['login', page, '--email', ada.email, '--json'], { input: `${ada.password}\n` })
  t.is(signedIn.code, 0, signedIn.err)
  t.like(signedIn.json<object>(), { server: proxy.url, email: ada.email })
  t.is((await stat(computer.credentials)).mode & 0o777, 0o600)
  const key = await storedKey(computer, proxy.url)
  t.is((await server.as(key)('/api/me')).status, 200)
  t.false(signedIn.out.includes(key))
  t.like((await computer.done('whoami', '--json')).json<object>(), { server: proxy.url, software: 'Pounce', email: ada.email })

  const names = async () => ((await ada.get('/api/users/keys')).body as { name: string }[]).map(({ name }) => name)
  const before = await names()
  await computer.run(['login', proxy.url, '--email', ada.email], { input: ada.password })
  t.is((await names()).length, before.length)
  t.is((await server.as(key)('/api/me')).status, 401)

  const second = await storedKey(computer, proxy.url)
  await computer.done('logout')
  t.is((await server.as(second)('/api/me')).status, 401)
  const after = await computer.run(['ls'])
  t.deepEqual([after.code, after.out], [1, ''])
  t.regex(after.err, /^Sign in first: pounce login/)
})

test('signing in to another account on the same server revokes only the previous key, even if the names are equal', async t => {
  const [ada, bob] = [await somebody(server, 'ada'), await somebody(server, 'bob')]
  const computer = await userComputer(t)
  const login = async ({ email, password }: { readonly email: string; readonly password: string }) => {
    const ended = await computer.run(['login', server.url, '--email', email], { input: password })
    t.is(ended.code, 0, ended.err)
    return storedKey(computer, server.url)
  }
  const first = await login(ada)
  const second = await login(bob)
  t.is((await server.as(first)('/api/me')).status, 401)
  t.is((await server.as(second)('/api/me')).status, 200)
  // The name of a key that was deleted elsewhere is used again.
  const [{ name = '' } = {}] = ((await bob.get('/api/users/keys')).body as { name: string }[]).filter(one => one.name.startsWith('pounce@'))
  await bob.remove(`/api/users/keys/${encodeURIComponent(name)}`)
  t.is((await server.as(await login(bob))('/api/me')).status, 200)
})

test('an account with a second factor signs in with its code', async t => {
  const clock = new FixedClock()
  const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', 'resources.status', 'search.fts']
  const own = await bootForTest({ t, clock, plugins })
  const { email, password, secret } = await withTotp(own, clock, 'ada')
  const computer = await userComputer(t)
  const login = (input: string) => computer.run(['login', own.url, '--email', email], { input })
  const missing = await login(password)
  t.is(missing.code, 1)
  t.regex(missing.err, /second factor/)
  t.is((await login(`${password}\n000000`)).code, 1)
  const done = await login(`${password}\n${codeAt(secret, clock.now())}\n`)
  t.is(done.code, 0, done.err)
  t.like((await computer.done('whoami', '--json')).json<object>(), { email })
})

test('password and key are read as lines: an input that stays open or is endless does not delay the command', async t => {
  const ada = await somebody(server)
  const computer = await userComputer(t)
  const words = ['login', server.url, '--email', ada.email]
  const withPassword = await computer.run(words, { input: `${ada.password}\r\n`, isInputOpen: true })
  t.is(withPassword.code, 0, withPassword.err)
  const withMore = await computer.run(words, { input: `${ada.password}\n${'y\n'.repeat(500_000)}`, isInputOpen: true })
  t.is(withMore.code, 0, withMore.err)
  const withKey = await computer.run(['login', server.url, '--key', '-'], { input: `${ada.key}\n`, isInputOpen: true })
  t.is(withKey.code, 0, withKey.err)
  t.is((await computer.run(words, { input: '' })).code, 1)
})

test('a wrong password, key or address is refused with the reason, and no credentials are stored', async t => {
  const ada = await somebody(server)
  const computer = await userComputer(t)
  const password = await computer.run(['login', server.url, '--email', ada.email], { input: 'wrong' })
  t.is(password.code, 1)
  t.regex(password.err, /^Sign-in refused: /)
  const key = await computer.run(['login', server.url, '--key', '-', '--json'], { input: 'wrong' })
  t.is(key.code, 1)
  t.regex((JSON.parse(key.err) as { error: string }).error, /^Sign-in refused: /)
  const address = await reverseProxy(t, server.url, '/data')
  const nowhere = await computer.run(['login', address.url.replace('/data', '/elsewhere'), '--key', ada.key])
  t.is(nowhere.code, 1)
  t.regex(nowhere.err, /is not a Pounce or Clowder server/)
  await t.throwsAsync(stat(computer.credentials))
  const noEmail = await computer.run(['login', server.url], { input: ada.password })
  t.is(noEmail.code, 2)
})

test('commands with a key that is no longer valid report how to sign in again, also on a public server', async t => {
  const ada = await somebody(server)
  const key = await newKey(server, ada.email, ada.password, 'name=short')
  const computer = await signedInComputer(t, server.url, { key })
  await ada.remove('/api/users/keys/short')
  for (const words of [['ls'], ['whoami'], ['search', 'leaf']]) {
    const refused = await computer.run(words)
    t.is(refused.code, 1)
    t.true(refused.err.includes(`Sign in again: pounce login ${server.url}`), refused.err)
  }
})

test('the environment specifies the server and the key, and does not affect other commands', async t => {
  const ada = await somebody(server)
  const computer = await userComputer(t)
  const env = { POUNCE_SERVER: server.url, POUNCE_KEY: ada.key }
  const who = await computer.run(['whoami', '--json'], { env })
  t.like(who.json<object>(), { server: server.url, email: ada.email })
  const check = await computer.run(['config', 'check', '--json'], { env })
  t.is(check.code, 0, check.err)
  // Settings that a server refuses are ignored by user commands.
  t.is((await computer.run(['whoami'], { env: { ...env, POUNCE_HTTP__PROT: '1' } })).code, 0)
})

test('the key of the environment is not sent to a page on another server than that of the environment', async t => {
  const ada = await somebody(server)
  const dataset = await newDataset(ada, { name: 'of Ada' })
  const received: unknown[] = []
  const other = createServer(({ url, headers }, response) => {
    received.push(headers['x-api-key'] ?? headers.authorization)
    response.writeHead(200, { 'content-type': 'application/json' }).end(url?.endsWith('/version') ? '{"version":{"build":"pounce"}}' : '[]')
  })
  await once(other.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => other.close())
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const computer = await userComputer(t)
  const env = { POUNCE_SERVER: server.url, POUNCE_KEY: ada.key }
  const refused = await computer.run(['ls', `${elsewhere}/datasets/${dataset}`], { env })
  t.is(refused.code, 1)
  t.regex(refused.err, /^Sign in first: pounce login/)
  t.is((await computer.run(['ls', `${server.url}/datasets/${dataset}`, '--json'], { env })).out, '[]\n')
  await computer.run(['ls', `${server.url}.example.org/datasets/${dataset}`], { env })
  t.deepEqual(received, [])
  await computer.run(['ls', '--server', elsewhere], { env })
  t.true(received.includes(ada.key), 'a server named by the option receives it')
})

test('several servers are distinguished by name, by option and by the address of a page', async t => {
  const [ada, bob] = [await somebody(server, 'ada'), await somebody(server, 'bob')]
  const proxy = await reverseProxy(t, server.url, '/other')
  const computer = await signedInComputer(t, server.url, ada)
  t.is((await computer.run(['login', proxy.url, '--key', '-'], { input: bob.key })).code, 0)
  const who = async (...words: readonly string[]) => (await computer.done('whoami', '--json', ...words)).json<{ email: string }>().email
  t.is(await who(), bob.email)
  t.is(await who('--server', server.url), ada.email)
  t.is(await who('--server', new URL(server.url).host), ada.email)
  const dataset = await newDataset(ada, { name: 'of Ada' })
  t.is((await computer.done('ls', `${server.url}/datasets/${dataset}`, '--json')).out, '[]\n')
})

test('paths of names lead from spaces to files; ambiguous names are listed with their ids', async t => {
  const ada = await somebody(server)
  const computer = await signedInComputer(t, server.url, ada)
  const space = await newSpace(ada, 'Alpine plots')
  const collection = await newCollection(ada, { name: 'Leaves', space })
  const dataset = await newDataset(ada, { name: 'Summer', space: [space], collection: [collection] })
  const winter = await newDataset(ada, { name: 'Winter', space: [space] })
  const other = await newDataset(ada, { name: 'Winter', space: [space] })
  await server.drained()
  await ada.call(`/api/uploadToDataset/${dataset}`, {
    method: 'POST',
    body: (() => {
      const form = new FormData()
      form.append('file', new Blob(['leaf']), 'leaf.txt')
      return form
    })(),
  })
  const names = async (...words: readonly string[]) =>
    (await computer.done('ls', '--json', ...words)).json<{ name: string }[]>().map(({ name }) => name)
  t.true((await names()).includes('Alpine plots'))
  t.deepEqual((await names('Alpine plots')).sort(), ['Leaves', 'Summer', 'Winter', 'Winter'])
  t.deepEqual(await names('/Alpine plots/Leaves'), ['Summer'])
  t.deepEqual(await names('/Alpine plots/Leaves/Summer'), ['leaf.txt'])
  t.deepEqual(await names('Summer'), ['leaf.txt'])
  t.deepEqual(await names(`space:${space}/Summer/leaf.txt`), ['leaf.txt'])

  const several = await computer.run(['ls', '/Alpine plots/Winter'])
  t.is(several.code, 1)
  for (const id of [winter, other]) t.true(several.err.includes(`dataset:${id}`), several.err)
  const absent = await computer.run(['ls', '/Alpine plots/Autumn', '--json'])
  t.is(absent.code, 1)
  t.regex((JSON.parse(absent.err) as { error: string }).error, /Nothing named "Autumn" in the space "Alpine plots"/)
  const noTarget = await computer.run(['put', 'leaf.txt', '/Alpine plots/Autumn'])
  t.is(noTarget.code, 1)
})

test('tags and metadata are set and shown, and found by a search', async t => {
  const ada = await somebody(server)
  const computer = await signedInComputer(t, server.url, ada)
  const dataset = await newDataset(ada, { name: 'Canopies' })
  const target = `dataset:${dataset}`
  t.deepEqual((await computer.done('tag', target, 'add', 'beech', 'oak', '--json')).json<{ tags: string[] }>().tags.sort(), [
    'beech',
    'oak',
  ])
  await computer.done('tag', target, 'remove', 'oak')
  t.is((await computer.done('tag', target)).out, 'beech\n')

  await computer.done('meta', target, 'set', 'plot=17', 'site=Bonn', 'barcode=12345678901234567890')
  const set = await computer.run(['meta', target, 'set', '-', '--json'], { input: '{"plot": 18, "open": true}' })
  t.is(set.code, 0, set.err)
  t.deepEqual(
    set.json<{ content: object }[]>().map(({ content }) => content),
    [{ plot: 18, site: 'Bonn', barcode: '12345678901234567890', open: true }],
  )
  t.is((await computer.done('meta', target, 'add', 'plot=19', '--json')).json<unknown[]>().length, 2)
  const context = { plot: 'http://example.org/plot' }
  await computer.run(['meta', target, 'add', '-'], { input: JSON.stringify({ '@context': context, plot: 20 }) })
  const merged = await computer.done('meta', target, 'set', 'mass=1e400', '--json')
  t.like(merged.json<object[]>(), [
    {
      '@context': ['https://clowder.ncsa.illinois.edu/contexts/metadata.jsonld', context],
      content: { plot: 20, site: 'Bonn', mass: '1e400' },
    },
  ])
  await server.drained()
  t.like((await computer.done('search', 'tag:beech', 'AND', 'site:Bonn', '--limit', '1', '--json')).json<object[]>(), [{ id: dataset }])
  const wrong = await computer.run(['tag', target, 'delete', 'beech'])
  t.is(wrong.code, 2)
  t.regex(wrong.err, /use add, remove or list/)
})

test('the shell completes commands of users and of the server', async t => {
  const computer = await userComputer(t)
  const script = (await computer.done('completion', 'bash')).out
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const line = `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pounce; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${line}`])
    return stdout.split('\n').filter(word => word !== '')
  }
  t.deepEqual(await complete('pounce', 'lo'), ['login', 'logout'])
  t.deepEqual(await complete('pounce', 'user', 'cr'), ['create'])
  t.deepEqual(await complete('pounce', 'sync', 'folder', '--dr'), ['--dry-run'])
  t.deepEqual(await complete('pounce', 'put', 'photos', 'x'), [])
  for (const shell of ['zsh', 'fish']) t.regex((await computer.done('completion', shell)).out, /login/)
  t.is((await computer.run(['completion', 'csh'])).code, 2)
})
