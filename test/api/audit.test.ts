import test from 'ava'
import { AuditTrails, anonymousUserId, DocumentStore, event, noteIn, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestFetch } from 'pounce/sdk/testing'
import { callsOf, nextOf } from '../support/calls.ts'
import { newPerson, signIn } from '../support/people.ts'
import { ok, refusal, unknownId } from '../support/scene.ts'
import { letIn, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

interface Line {
  readonly id: string
  readonly at: string
  readonly type: string
  readonly actor: { readonly id: string; readonly fullName: string; readonly email: string } | null
  readonly user: { readonly id: string } | null
  readonly subject: { readonly kind: string; readonly id: string } | null
  readonly about: Readonly<Record<string, unknown>>
  readonly address: string | null
  readonly count: number
  readonly last: string
}

const server = await bootForTest()
const admin = server.as(server.admin.key)
test.after.always(() => server.stop())

const log = async (query = '', call: TestFetch = admin, on = server) => {
  await on.drained()
  return ok<Line[]>(call(`/api/admin/audit?${query}`))
}

test('what is done to accounts is in the log, with who did it', async t => {
  const ann = await newPerson(server, 'ann')
  const { post } = callsOf(admin)
  await post('/api/admin/users', { readonly: [ann.id] })
  await post('/api/admin/users', { active: [ann.id] })
  const lines = (await log(`user=${ann.id}`)).filter(({ type }) => type !== 'key.created')
  t.deepEqual(
    lines.map(({ type, about, actor, user }) => [type, about['status'], actor?.email, user?.id]),
    [
      ['user.status-changed', 'Active', server.admin.email, ann.id],
      ['user.status-changed', 'ReadOnly', server.admin.email, ann.id],
      ['user.created', undefined, server.admin.email, ann.id],
    ],
  )
})
