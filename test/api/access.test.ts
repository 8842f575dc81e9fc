import test from 'ava'
import { Users } from 'pounce/sdk'
import { makeAccessWorld } from '../support/access-world.ts'

// The permissions of every route are tested in `test/access`. This file tests changes of rights.

const worlds = { private: await makeAccessWorld(true), public: await makeAccessWorld(false) } as const
test.after.always(() => Promise.all(Object.values(worlds).map(({ server }) => server.stop())))

test('revoked rights are refused at the next request', async t => {
  const { server, actors, ids, people } = worlds.private
  const dataset = String(ids['dataset'])
  const status = async () => (await actors['editor']!.call(`/api/datasets/${dataset}`)).status
  t.is(await status(), 200)
  await server.get(Users).setMembership(people['editor']!.id, String(ids['space']), undefined)
  t.is(await status(), 404)
  t.is((await actors['editor']!.call(`/api/files/${ids['file']}/metadata`)).status, 404)
  t.is((await actors['editor']!.call(`/api/previews/${ids['preview']}`)).status, 404)
})

test('callers who may delete from the trash delete permanently, for all callers', async t => {
  const { actors, ids } = worlds.public
  const ask = (who: string, path: string, method = 'GET') => {
    const { call, query } = actors[who]!
    return call(`${path}${query && `?${query}`}`, { method })
  }
  t.is((await ask('spaceAdmin', `/api/datasets/${ids['trashedDataset']}`, 'DELETE')).status, 200)
  for (const who of ['author', 'superAdmin', 'spaceAdmin']) {
    t.is((await ask(who, `/api/datasets/${ids['trashedDataset']}`)).status, 404)
    t.is((await ask(who, `/api/files/${ids['trashedFile']}/metadata`)).status, 404)
  }
})
