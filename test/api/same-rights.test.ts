import test, { type ExecutionContext } from 'ava'
import { type Caller, type Kind, type Permission, Policy, type Ref, type Rights, Users } from 'pounce/sdk'
import type { KeyLimits, Verb } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { NaivePolicy } from '../../plugins/access/policy/testing-fixtures/naive-policy.ts'
import { accessPlugins } from '../support/access-world.ts'
import { allIds, type Calls, callsOf } from '../support/calls.ts'
import { newKey } from '../support/people.ts'
import { upload } from '../support/scene.ts'
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts'
import { newCollection, newDataset, newSpace, publish, type Somebody, somebody } from '../support/spaces-and-people.ts'

const word = 'wheatear'
const viewing = { dataset: 'ViewDataset', collection: 'ViewCollection', file: 'ViewFile' } as const satisfies Partial<
  Record<Kind, Permission>
>
type Shown = keyof typeof viewing

interface World {
  readonly server: TestServer
  /** By `kind:id`, in order of creation. */
  readonly things: Record<string, Rights>
  readonly spaces: readonly string[]
  readonly people: readonly Somebody[]
}

/** Permissions of roles that may view only some kinds of resources. */
const partial: readonly (readonly Permission[])[] = [
  ['ViewSpace', 'ViewCollection'],
  ['ViewSpace', 'ViewDataset', 'EditDataset'],
  ['ViewFile', 'DownloadFiles'],
]

const makeRoles = async (server: TestServer): Promise<readonly string[]> => {
  const admin = callsOf(server.as(server.admin.key))
  for (const [at, permissions] of partial.entries()) await admin.post('/api/roles', { name: `partial ${at}`, description: '', permissions })
  return (await server.get(Users).roles()).map(({ id }) => id)
}

const makeWorld = async (isPrivate: boolean, { pick, oneIn }: SeededRandom): Promise<World> => {
  const server = await bootForTest({ plugins: [...accessPlugins, 'resources.groups'], config: { access: { private: isPrivate } } })
  const people: Somebody[] = []
  for (const name of ['ann', 'bob', 'cid']) people.push(await somebody(server, name))
  const roles = await makeRoles(server)
  const spaces: string[] = []
  const areOpen = new Set<string>()
  for (let n = 0; n < 4; n++) spaces.push(await newSpace(pick(people)))
  for (const space of spaces) if (oneIn(4)) areOpen.add(space)
  const users = server.get(Users)
  const things: Record<string, Rights> = {}
  const somewhere = (): readonly string[] => spaces.filter(() => oneIn(4))
  for (const { id } of people) for (const space of spaces) await users.setMembership(id, space, '0000000000000000000000a3')
  for (const space of areOpen) await publish(server, pick(people), space)
  for (let n = 0; n < 14; n++) {
    const author = pick(people)
    const own = somewhere()
    const access = oneIn(6) ? 'PUBLIC' : oneIn(3) ? 'PRIVATE' : 'DEFAULT'
    const id = await newDataset(author, { name: `${word} ${n}`, space: own, access })
    const isPublic = access === 'PUBLIC' || (access === 'DEFAULT' && own.some(space => areOpen.has(space)))
    const file = await upload(author.call, id, 'x', `${word}.txt`)
    const isTrashed = oneIn(6)
    if (isTrashed) await author.remove(`/api/datasets/${id}`)
    things[`dataset:${id}`] = { author: author.id, spaces: own, isPublic, state: isTrashed ? 'trashed' : 'live' }
    things[`file:${file}`] = { author: author.id, spaces: [], isPublic: false, state: 'live', parents: [{ kind: 'dataset', id }] }
  }
  for (let n = 0; n < 6; n++) {
    const author = pick(people)
    const [own] = somewhere()
    const id = await newCollection(author, { name: `${word} ${n}`, ...(own ? { space: own } : {}) })
    things[`collection:${id}`] = {
      author: author.id,
      spaces: own ? [own] : [],
      isPublic: own !== undefined && areOpen.has(own),
      state: 'live',
    }
  }
  // All accounts were Admin everywhere while resources were created; now they get random roles.
  for (const { id } of people) for (const space of spaces) await users.setMembership(id, space, oneIn(2) ? pick(roles) : undefined)
  await server.drained()
  return { server, things, spaces, people }
}

/** A caller over HTTP, and as the policy represents it. */
interface Asker {
  readonly name: string
  readonly calls: Calls
  readonly caller: Caller
}

const askersOf = async ({ server, people }: World, { pick, oneIn }: SeededRandom): Promise<readonly Asker[]> => {
  const users = server.get(Users)
  const askers: Asker[] = []
  for (const person of people) {
    const user = await users.get(person.id)
    if (!user) throw new Error('there is no such person')
    const caller = await users.callerOf(user)
    askers.push({ name: person.email, calls: person, caller })
    const seen = caller.user?.memberships.filter(({ permissions }) => permissions.has('ViewSpace')).map(({ space }) => space) ?? []
    const held = seen.length > 0 && !oneIn(3) ? [pick(seen)] : undefined
    const verbs = oneIn(3) ? (['write', 'delete'] as const) : (['read'] as const)
    const reach = `name=narrow&verbs=${verbs.join(',')}${held ? `&spaces=${held.join(',')}` : ''}`
    const limits: KeyLimits = { verbs: new Set<Verb>(verbs), ...(held ? { spaces: new Set(held) } : {}) }
    const calls = callsOf(server.as(await newKey(server, person.email, person.password, reach)))
    askers.push({ name: `${person.email} with ${reach}`, calls, caller: { ...caller, via: 'key', limits } })
  }
  return askers
}

const found = async (calls: Calls, kind: Shown): Promise<{ readonly ids: readonly string[]; readonly total: unknown }> => {
  const { status, body } = await calls.get(`/api/search?query=${word}&resource_type=${kind}&size=100`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  const { results, total_size: total } = body as { readonly results: readonly { readonly id: string }[]; readonly total_size: unknown }
  return { ids: results.map(({ id }) => id), total }
}

const check = async (t: ExecutionContext, isPrivate: boolean): Promise<void> => {
  const random = seededRandom()
  t.log(`seed ${random.seed}`)
  const world = await makeWorld(isPrivate, random)
  t.teardown(() => world.server.stop())
  const policy = world.server.get(Policy)
  const naive = new NaivePolicy(world.things, { isPrivate, allowAnonymousDownload: false })
  const all = Object.keys(world.things).map((key): Ref => ({ kind: key.split(':')[0] as Kind, id: key.split(':')[1] ?? '' }))
  const isLive = ({ kind, id }: Ref): boolean => {
    const { state, parents = [] } = world.things[`${kind}:${id}`] as Rights
    return state === 'live' && (parents.length === 0 || parents.some(isLive))
  }
  for (const { name, calls, caller } of await askersOf(world, random)) {
    for (const kind of Object.keys(viewing) as Shown[]) {
      const permission = viewing[kind]
      const refs = all.filter(ref => ref.kind === kind)
      const seen = refs.filter(ref => naive.decide(caller, permission, ref) === 'yes')
      const requested = `seed ${random.seed}: ${kind}s for ${name} on a ${isPrivate ? 'private' : 'public'} server`
      const ids = (some: readonly Ref[]): readonly string[] => some.map(({ id }) => id).toSorted()
      const allowed = await policy.allowed(
        caller,
        permission,
        kind,
        refs.map(({ id }) => id),
      )
      t.deepEqual([...allowed].toSorted(), ids(seen), requested)
      for (const ref of refs) {
        const path = kind === 'file' ? `/api/files/${ref.id}/metadata` : `/api/${kind}s/${ref.id}`
        t.is((await calls.get(path)).status, seen.includes(ref) ? 200 : 404, `${requested}: ${ref.id}`)
      }
      const listed = ids(seen.filter(isLive))
      if (kind !== 'file') t.deepEqual((await allIds(calls.get, `/api/${kind}s?limit=3`)).toSorted(), listed, requested)
      const { ids: hits } = await found(calls, kind)
      t.deepEqual(hits.toSorted(), listed, requested)
    }
  }
}

for (const isPrivate of [true, false])
  test(`reads by id, lists, searches and the policy agree on a ${isPrivate ? 'private' : 'public'} server`, t => check(t, isPrivate))
