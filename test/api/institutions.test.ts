import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf, nextOf } from '../support/calls.ts'
import { recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: [...recordPlugins, 'resources.institutions'] })
test.after.always(() => server.stop())
const kinds = [
  ['institutions', 'addinstitution?institution=', 'added institution'],
  ['projects', 'addproject?project=', 'added project'],
] as const

const allNames = async (person: Somebody, path: string): Promise<readonly string[]> => {
  const names: string[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await person.get(next)
    names.push(...(page.body as string[]))
    next = nextOf(page)
  }
  return names
}

for (const [kind, add, answer] of kinds) {
  test(`${kind} are added by any account, once each, and listed by name`, async t => {
    const ann = await somebody(server)
    const given = ['Zürich', 'Ice_Lab', ' Ice   Lab ', 'ice lab', 'Ocean Centre']
    for (const name of given) {
      const { status, body } = await ann.post(`/api/${kind}/${add}${encodeURIComponent(name)}`)
      t.deepEqual([status, body], [200, answer])
    }
    await Promise.all(Array.from({ length: 10 }, () => ann.post(`/api/${kind}/${add}same`)))
    const expected = ['Ice Lab', 'Ice_Lab', 'Ocean Centre', 'Zürich', 'same']
    t.deepEqual((await ann.get(`/api/${kind}`)).body, expected)
    t.deepEqual(await allNames(ann, `/api/${kind}?limit=2`), expected)
  })

  test(`${kind} without a name, or from anonymous callers, are refused`, async t => {
    const ann = await somebody(server)
    for (const name of ['', '%20', '%00', 'x'.repeat(201)]) t.is((await ann.post(`/api/${kind}/${add}${name}`)).status, 400)
    t.is((await ann.get(`/api/${kind}?after=nonsense`)).status, 400)
    const nobody = callsOf(server.as())
    t.is((await nobody.post(`/api/${kind}/${add}n`)).status, 401)
    t.is((await nobody.get(`/api/${kind}`)).status, 401)
    await server.as(server.admin.key)('/api/admin/users', { method: 'POST', json: { readonly: [ann.id] } })
    t.is((await ann.post(`/api/${kind}/${add}n`)).status, 403)
  })
}
