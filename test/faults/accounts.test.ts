import test from 'ava'
import { type DocumentStore, eq, Mailer, Unavailable } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { users } from '../../plugins/resources/users/collections.ts'
import { embeddedStores } from '../support/embedded-stores.ts'
import { Gate, overridesOf } from '../support/faulty-stores.ts'
import { lastToken } from '../support/mails.ts'
import { seededRandom } from '../support/seeded-random.ts'

const plugins = ['auth.local', 'access.policy', 'resources.users', 'resources.admin']
const [first, second] = ['the first password', 'the second password']
const done = [200]
/** A retried request may find that its first attempt succeeded, and only the response was lost. */
const doneOrSpent = [200, 403]

for (const [title, when] of [
  ['a call to an unavailable store', 'before'],
  ['a call whose response is lost', 'after'],
] as const)
  test(`${title} does not prevent signing up or resetting a password, and does not make a link work twice`, async t => {
    const [gate, mailer, random] = [new Gate(), new MemoryMailer(), seededRandom()]
    t.log(`seed ${random.seed}`)
    const { documents, blobs } = await embeddedStores(t)
    const overrides = { ...overridesOf(gate.guard<DocumentStore>('documents', documents), blobs), [Mailer]: mailer }
    const settings = {
      auth: { local: { linksPerAddress: 1000, linksPerNetwork: 100_000 } },
      resources: { users: { failuresPerAddress: 100_000 } },
    }
    const server = await bootForTest({ t, plugins, overrides, config: settings })

    /** Retries until the response is not a 503. */
    const post = async (path: string, json: object, allowed: readonly number[]): Promise<void> => {
      for (let tries = 0; ; tries += 1) {
        const answer = await server.as(path.startsWith('/api/admin') ? server.admin.key : undefined)(path, { method: 'POST', json })
        const text = await answer.text()
        if (answer.status === 503 && tries < 3) continue
        if (!(tries > 0 ? allowed : done).includes(answer.status)) throw new Error(`${path}: ${answer.status} ${text}`)
        return
      }
    }
    const walk = async (email: string): Promise<void> => {
      await post('/api/signup', { email }, done)
      const token = await lastToken(server, mailer, email)
      await post('/api/signup/finish', { token, firstName: 'A', lastName: 'B', password: first }, doneOrSpent)
      const [user] = (await documents.find(users, { using: 'byEmail', where: eq('email', email), limit: 1 })).items
      await post('/api/admin/users', { active: [user?.id] }, done)
      await post('/api/login', { email, password: first }, done)
      await post('/api/password/reset', { email }, done)
      const reset = await lastToken(server, mailer, email)
      await post('/api/password/reset/finish', { token: reset, password: second }, doneOrSpent)
      await post('/api/login', { email, password: second }, done)
      for (const [path, spent] of [
        ['/api/signup/finish', token],
        ['/api/password/reset/finish', reset],
      ] as const) {
        const json = { token: spent, firstName: 'X', lastName: 'Y', password: 'a third password' }
        t.true([403, 503].includes((await server.as()(path, { method: 'POST', json })).status), path)
      }
    }

    for (let at = 1; ; at += 1 + random.int(9)) {
      gate.arm(at, when, () => new Unavailable('The store is unavailable'))
      await t.notThrowsAsync(
        walk(`n${at}@example.org`).catch(error => Promise.reject(new Error(`call ${at}, ${gate.failed}`, { cause: error }))),
      )
      const { failed } = gate
      gate.arm(0)
      await server.drained()
      if (failed === undefined) break
    }
  })
