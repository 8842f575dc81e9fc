import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Groups, type Stored, type UserRecord, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { outsideServer } from '../support/outside-server.ts'

test('members of a provider group have the roles configured for it, as long as they are members and it is configured', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-groups-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const first = await bootForTest({ folder })
  const admin = first.as(first.admin.key)
  const spaceNamed = async (name: string): Promise<string> =>
    ((await (await admin('/api/spaces', { method: 'POST', json: { name, description: name } })).json()) as { id: string }).id
  const [shared, other, byHand] = [await spaceNamed('shared'), await spaceNamed('other'), await spaceNamed('manual')]
  await first.stop()

  const line = (group: string, space: string, role: string) => ({ provider: 'uni', group, space, role })
  const roles = [
    line('curators', shared, 'editor'),
    line('curators', other, 'Viewer'),
    line('staff', other, 'Nobody'),
    line('staff', shared, 'Viewer'),
  ]
  const { server, signIn, whoIs } = await outsideServer(t, { folder, more: { resources: { groups: { roles } } } })
  const person = (groups?: unknown) => signIn({ sub: 'ada', email: 'ada@example.org', groups })
  const held = async (user: (UserRecord & Stored) | undefined): Promise<string[]> => {
    const { memberships = [] } = user ? ((await server.get(Users).callerOf(user)).user ?? {}) : {}
    return memberships.map(({ space, roleName }) => `${space} ${roleName}`).sort()
  }
  const mayWrite = async (cookie: string): Promise<number> => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    return (
      await server.as()(`/api/spaces/${shared}/update`, {
        method: 'POST',
        headers,
        json: { name: 'shared', description: 'x', timetolive: '0', enabled: false },
      })
    ).status
  }

  const { browser } = await person(['curators', 'strangers'])
  const id = (await whoIs(browser))?.id ?? ''
  const stored = () => server.get(Users).get(id)
  t.deepEqual(await held(await stored()), [`${shared} Editor`, `${other} Viewer`].sort())
  t.is(await mayWrite(browser.cookiesFor(new URL(server.url))), 403)
  await server.get(Users).setMembership(id, byHand, (await server.get(Users).roles()).find(({ name }) => name === 'Viewer')?.id)

  await person(['staff', 'curators'])
  t.deepEqual(
    await held(await stored()).then(all => all.filter(one => !one.startsWith(shared))),
    [`${byHand} Viewer`, `${other} Viewer`].sort(),
  )
  await person(['staff'])
  t.deepEqual(await held(await stored()), [`${byHand} Viewer`, `${shared} Viewer`].sort())
  t.deepEqual(
    (await stored())?.memberships.map(({ space }) => space),
    [byHand],
  )
  for (const none of [undefined, [], 'curators-not', { curators: true }, [['curators']]]) {
    await person(['curators'])
    t.is((await held(await stored())).length, 3)
    await person(none)
    t.deepEqual(await held(await stored()), [`${byHand} Viewer`], JSON.stringify(none))
  }
  await person(['curators'])
  await server.stop()

  const { server: again } = await outsideServer(t, {
    folder,
    more: { resources: { groups: { roles: [line('curators', other, 'Editor')] } } },
  })
  const user = await again.get(Users).get(id)
  const now = user && (await again.get(Users).callerOf(user)).user?.memberships.map(({ space, roleName }) => `${space} ${roleName}`).sort()
  t.deepEqual(now, [`${byHand} Viewer`, `${other} Editor`].sort())
  const group = (await again.get(Groups).getMany(user?.groups ?? [])).values().toArray()
  t.deepEqual(
    group.map(({ source, external, name }) => [source, external, name]),
    [['uni', 'curators', 'uni: curators']],
  )
})
