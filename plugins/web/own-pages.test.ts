import test from 'ava'
import { Mailer, StartupMessages, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { mailsTo } from '../../test/support/mails.ts'

/** Paths of the links to set up the server, to sign up and to reset a password. */
const linkedPaths = async (server: TestServer, mailer: MemoryMailer): Promise<readonly string[]> => {
  const post = (path: string, email: string) => server.as()(path, { method: 'POST', json: { email } })
  await post('/api/signup', 'new@example.org')
  await post('/api/password/reset', server.admin.email)
  const texts = [...(await mailsTo(server, mailer, 'new@example.org')), ...(await mailsTo(server, mailer, server.admin.email))].map(
    ({ text }) => text,
  )
  await server.get(Users).change(server.admin.id, { set: { status: 'Active' } }, [])
  const messages = server
    .get(StartupMessages)
    .all()
    .map(message => message.lines())
  const printed = (await Promise.all(messages)).flat()
  return [...printed, ...texts].flatMap(text => /https?:\/\/[^/]+(\/.*)\?token=/.exec(text)?.[1] ?? [])
}

test('links in emails and the printed setup link lead to pages of the web interface', async t => {
  const mailer = new MemoryMailer()
  const server = await bootForTest({ t, overrides: { [Mailer]: mailer } })
  t.deepEqual(await linkedPaths(server, mailer), ['/welcome', '/signup', '/reset'])
})

test('pages in the configuration take precedence over those of the web interface', async t => {
  const mailer = new MemoryMailer()
  const config = { auth: { local: { signUpPage: '/join', resetPage: '/forgotten' } }, resources: { users: { setUpPage: '/begin' } } }
  const server = await bootForTest({ t, overrides: { [Mailer]: mailer }, config })
  t.deepEqual(await linkedPaths(server, mailer), ['/begin', '/join', '/forgotten'])
})

test('only the files of the sample dataset are served from their folder', async t => {
  const server = await bootForTest({ t })
  const names = ['README.md', 'stations.csv', 'hill.jpg', 'leaf-area.pdf']
  const types = await Promise.all(names.map(async name => (await server.as()(`/web/sample/${name}`)).headers.get('content-type')))
  t.deepEqual(types, ['text/markdown; charset=utf-8', 'text/csv; charset=utf-8', 'image/jpeg', 'application/pdf'])
  for (const name of ['other.txt', '..%2Findex.ts', 'constructor']) t.is((await server.as()(`/web/sample/${name}`)).status, 404)
})
