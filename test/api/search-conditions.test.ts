import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { ok } from '../support/scene.ts'

let server: TestServer
test.before(async () => {
  server = await bootForTest({})
})
test.after.always(() => server?.stop())

const ask = (query: string) => server.as()(`/api/search/conditions?${new URLSearchParams({ query })}`)
const conditions = (query: string) => ok<{ join: string; conditions: readonly unknown[] | null }>(ask(query))
const one = (is: string, text: string) => [{ is, text }]

test('a query is returned as a list of its conditions, in their order', async t => {
  t.deepEqual(await conditions('soil NOT "dry sand" depth>=12 tag=="red oak" name:/^a.*b$/ exists:site label:north|south'), {
    join: 'and',
    conditions: [
      { not: false, field: null, operator: ':', values: one('words', 'soil') },
      { not: true, field: null, operator: ':', values: one('phrase', 'dry sand') },
      { not: false, field: 'depth', operator: '>=', values: one('words', '12') },
      { not: false, field: 'tag', operator: '==', values: one('phrase', 'red oak') },
      { not: false, field: 'name', operator: ':', values: one('expression', '^a.*b$') },
      { not: false, field: 'site', operator: 'exists', values: [] },
      {
        ...{ not: false, field: 'label', operator: ':' },
        values: [
          { is: 'words', text: 'north' },
          { is: 'words', text: 'south' },
        ],
      },
    ],
  })
  t.like(await conditions('soil OR sand'), { join: 'or', conditions: [{ field: null }, { field: null }] })
  t.deepEqual(await conditions(' '), { join: 'and', conditions: [] })
})

test('a query with parentheses, or with both AND and OR, has no list of conditions', async t => {
  for (const query of ['(soil OR sand) dry', 'soil OR sand dry', 'NOT (a b)', 'exists:a|b'])
    t.is((await conditions(query)).conditions, null, query)
})

test('a query that cannot be parsed is refused with the position of the error', async t => {
  const answer = await ask('soil AND "dry')
  t.is(answer.status, 400)
  t.like(await answer.json(), { position: 10 })
  t.is((await server.as()('/api/search/conditions')).status, 400)
})
