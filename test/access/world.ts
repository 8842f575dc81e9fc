import { Files, Keys, type Plugin, Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newKey, newPerson, type Person } from '../support/people.ts'
import { ok } from '../support/scene.ts'
import { accountOf, type CallerName, frozen, type JobKeyCaller } from './callers.ts'
import { type HttpClient, openHttpClient } from './http-client.ts'
import type { Mode } from './oracle/letters.ts'
import { recordEvents } from './record-events.ts'
import { type MatrixRoute, matrixPlugins, routesOf } from './routes.ts'
import { type ThingKind, Things, thingKinds } from './things.ts'

/**
 * The state of a resource, from the caller's point of view. `trashedShared`: added by an editor to a dataset that its author has trashed.
 * `halfTrashed`: in such a dataset, and in a live one. `attached`: in a dataset of the lab, and in one of an editor alone.
 */
export const states = [
  'own',
  'lab',
  'archived',
  'attached',
  'foreign',
  'shown',
  'trashed',
  'trashedShared',
  'halfTrashed',
  'deleted',
  'unknown',
  'other',
  'malformed',
] as const
export type State = (typeof states)[number]

/** Ids of the existing resources of one state, by kind. */
export type Ids = Readonly<Partial<Record<ThingKind, string>>>

/** The credentials of a caller. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  readonly query: string
}

const members = ['viewer', 'editor', 'grouped', 'spaceAdmin', 'readOnly', 'inactive', 'termsPending', 'member'] as const
const names = ['owner', 'stranger', 'author', 'other', ...members] as const
type Name = (typeof names)[number] | 'admin'

/** A server in one mode with all callers and a resource of each kind in each state. */
export interface World {
  readonly mode: Mode
  readonly server: TestServer
  readonly routes: readonly MatrixRoute[]
  readonly send: HttpClient
  readonly people: Readonly<Record<Name, Person>>
  readonly credentials: ReadonlyMap<CallerName, Credentials>
  readonly spaces: { readonly lab: string; readonly foreign: string; readonly shown: string }
  readonly standing: Readonly<Record<string, Ids>>
  readonly asSuperAdmin: TestFetch
  /** Events so far, by type and id. */
  readonly received: readonly string[]
  /** Adds the members of `lab` to another space with the same roles. */
  letIn(space: string): Promise<void>
  /** Resources of that user, in that space if given, created on first use except the given ones. */
  things(who: Name, space?: string, given?: Ids): Things
  stop(): Promise<void>
}

const settings = (mode: Mode) => ({
  http: { trustedProxies: 1 },
  access: { private: mode !== 'public', policy: { makeGeostreamsPublicReadable: mode !== 'closed' } },
  // Built-in extractors would finish the jobs whose keys are used.
  resources: { users: { failuresPerAddress: 100_000, jobKeyGraceMinutes: 1440 } },
})

const post = (call: TestFetch, path: string, json?: unknown, method = 'POST') =>
  ok<{ id: string }>(call(path, { method, ...(json === undefined ? {} : { json }) }))

/** Boots a server, with optional replacements of default plugins, and creates its resources. */
export const makeWorld = async (mode: Mode, replaced: readonly Plugin[] = []): Promise<World> => {
  const plugins = (await matrixPlugins()).map(id => replaced.find(plugin => plugin.id === id) ?? id)
  const { plugin: ear, received } = recordEvents()
  const server = await bootForTest({ plugins, also: [ear], config: settings(mode) })
  const routes = await routesOf(plugins)
  const asSuperAdmin = server.as(server.admin.key)
  const made = await Promise.all(names.map(async name => [name, await newPerson(server, name)] as const))
  const people = { ...Object.fromEntries(made), admin: { ...server.admin, call: asSuperAdmin } } as Record<Name, Person>
  const newSpace = async (who: Name): Promise<string> =>
    (await post(people[who].call, '/api/spaces', { name: `space of ${who}`, description: '' })).id
  const spaces = { lab: await newSpace('author'), foreign: await newSpace('owner'), shown: await newSpace('owner') }

  const group = (await post(asSuperAdmin, '/api/groups', { name: 'editors' })).id
  await ok(asSuperAdmin(`/api/groups/${group}/members`, { method: 'POST', json: { users: [people.grouped.id] } }))

  const letIn = async (space: string): Promise<void> => {
    const ids = (...who: Name[]): string => who.map(name => people[name].id).join(',')
    const rolesandusers = { Viewer: ids('viewer', 'member'), Editor: ids('editor') }
    await post(asSuperAdmin, `/api/spaces/${space}/updateUsers?superAdmin=true`, { rolesandusers })
    for (const who of ['spaceAdmin', 'readOnly', 'inactive', 'termsPending'] as const)
      await server.get(Users).setMembership(people[who].id, space, await adminRole(asSuperAdmin))
    await ok(asSuperAdmin(`/api/spaces/${space}/groups/${group}?superAdmin=true`, { method: 'PUT', json: { role: 'Editor' } }))
    // Its creator only keeps the rights of an author.
    await server.get(Users).setMembership(people.author.id, space, undefined)
  }
  await letIn(spaces.lab)
  await post(asSuperAdmin, `/api/spaces/${spaces.shown}/verify`, undefined, 'PUT')
  const update = { name: 'shown', description: '', timetolive: '24', enabled: false, access: 'PUBLIC' }
  await post(people.owner.call, `/api/spaces/${spaces.shown}/update`, update)

  const things: World['things'] = (who, space, given = {}) => {
    const { call, id, email } = people[who]
    return new Things(
      { call, user: id, asSuperAdmin, isShown: space === spaces.shown, ...(space === undefined ? {} : { space }) },
      { user: id, mail: email, ...given },
    )
  }
  const standing = await furnish(server, people, spaces, things)
  await shutOut(server, people)
  const wire = openHttpClient(() => server.url)
  return {
    mode,
    server,
    routes,
    people,
    spaces,
    standing,
    asSuperAdmin,
    received,
    letIn,
    things,
    send: wire.send,
    credentials: await credentialsOf(server, people, standing['lab'] ?? {}),
    async stop() {
      wire.close()
      await server.stop()
    },
  }
}

const adminRole = async (call: TestFetch): Promise<string> => {
  const roles = await ok<readonly { id: string; name: string }[]>(call('/api/roles'))
  return roles.find(({ name }) => name === 'Admin')?.id ?? ''
}

const allOf = async (made: Things): Promise<Ids> =>
  Object.fromEntries(await Promise.all(thingKinds.map(async kind => [kind, await made.of(kind)] as const)))

const without = (ids: Ids, ...kinds: readonly ThingKind[]): Ids =>
  Object.fromEntries(Object.entries(ids).filter(([kind]) => !kinds.includes(kind as ThingKind)))

/** Kinds that are not trashed with a dataset. */
const lasting = ['space', 'vocabulary', 'term', 'definition', 'upload', 'logo', 'logoPath', 'user', 'mail'] as const
/** Kinds that are deleted without a trash, and are never archived. */
const measured = ['sensor', 'stream', 'datapoint'] as const

const ofFiles = ['file', 'section', 'preview', 'thumbnail', 'metadata', 'comment'] as const

/** Kinds that an editor can add to a dataset. */
const contributed = ['folder', ...ofFiles] as const

/** Creates the resources of these kinds, in their order. */
const created = async (
  things: ReturnType<World['things']>,
  kinds: readonly ThingKind[],
): Promise<Readonly<Partial<Record<ThingKind, string>>>> => {
  const ids: Partial<Record<ThingKind, string>> = {}
  for (const kind of kinds) ids[kind] = await things.of(kind)
  return ids
}

/** Of the kinds that are of files, the given ones and the file itself. */
const withFile = (kinds: readonly ThingKind[]): readonly ThingKind[] => ofFiles.filter(kind => kind === 'file' || kinds.includes(kind))

/** A trashed dataset of the author, with resources of the given kinds (all by default) that an editor has added. */
export const sharedTrash = async (
  { people, spaces, things }: Pick<World, 'people' | 'spaces' | 'things'>,
  kinds: readonly ThingKind[] = contributed,
): Promise<Ids> => {
  const dataset = await things('author', spaces.lab).of('dataset')
  const put = things('editor', spaces.lab, { dataset })
  const ids = await created(
    put,
    contributed.filter(kind => kinds.includes(kind)),
  )
  await put.throwAway(people.author.call)
  return { dataset, ...ids }
}

/** Resources of the given kinds (all by default) of a file that is both in a trashed dataset and in a live one. */
export const newHalfTrash = async (
  { people: { author }, spaces, things }: Pick<World, 'people' | 'spaces' | 'things'>,
  kinds: readonly ThingKind[] = ofFiles,
): Promise<Ids> => {
  const binned = things('author', spaces.lab)
  const ids = await created(binned, withFile(kinds))
  const other = await things('author', spaces.lab).of('dataset')
  await post(author.call, `/api/datasets/${other}/files/${ids.file}`)
  await binned.throwAway()
  return ids
}

/** Resources of the given kinds (all by default) of a file of the lab that an editor has attached to a dataset of their own. */
export const newAttached = async (
  { people: { editor }, spaces, things }: Pick<World, 'people' | 'spaces' | 'things'>,
  kinds: readonly ThingKind[] = ofFiles,
): Promise<Ids> => {
  const ids = await created(things('author', spaces.lab), withFile(kinds))
  await post(editor.call, `/api/datasets/${await things('editor').of('dataset')}/files/${ids.file}`)
  return ids
}

/** One resource of each kind that can be trashed, by state. */
export const newTrash = async (
  world: Pick<World, 'people' | 'spaces' | 'things'>,
): Promise<Readonly<Record<'trashed' | 'trashedShared', Ids>>> => {
  const binned = world.things('author', world.spaces.lab)
  const trashed = without(await allOf(binned), ...lasting, ...measured)
  await binned.throwAway()
  return { trashed, trashedShared: await sharedTrash(world) }
}

/** One resource of each kind by state; own resources by account. */
const furnish = async (
  server: TestServer,
  people: Readonly<Record<Name, Person>>,
  spaces: World['spaces'],
  things: World['things'],
): Promise<Readonly<Record<string, Ids>>> => {
  const own: Record<string, Ids> = {}
  for (const name of new Set(Object.values(accountOf))) if (name !== undefined) own[name] = await allOf(things(name as Name))
  const at = { user: people.member.id, mail: people.member.email }
  const lab = { ...(await allOf(things('author', spaces.lab))), ...at }
  const archived = without(await allOf(things('author', spaces.lab)), ...lasting, ...measured)
  await server.get(Files).change(String(archived.file), { set: { status: 'ARCHIVED' } }, [])
  const foreign = { ...(await allOf(things('owner', spaces.foreign))), user: people.other.id, mail: people.other.email }
  const shown = without(await allOf(things('owner', spaces.shown)), 'user', 'mail', 'upload')
  const { trashed, trashedShared } = await newTrash({ people, spaces, things })
  const halfTrashed = await newHalfTrash({ people, spaces, things })
  const attached = await newAttached({ people, spaces, things })
  const gone = things('author')
  const deleted = without(await allOf(gone), ...lasting.slice(1))
  await gone.throwAway()
  await gone.throwAway()
  await post(people.author.call, `/api/spaces/${deleted.space}`, undefined, 'DELETE')
  await post(people.author.call, `/api/geostreams/sensors/${deleted.sensor}`, undefined, 'DELETE')
  return { ...own, lab, archived, attached, foreign, shown, trashed, trashedShared, halfTrashed, deleted }
}

/** Restricts accounts after their resources are created. */
const shutOut = async (server: TestServer, people: Readonly<Record<Name, Person>>): Promise<void> => {
  const json = { tosText: 'Be kind to the data.', tosHtml: false }
  await ok(server.as(server.admin.key)('/api/admin/configuration', { method: 'POST', json }))
  for (const { call } of Object.values(people))
    if (call !== people.termsPending.call) await ok(call('/api/users/acceptTerms', { method: 'POST' }))
  const users = server.get(Users)
  await users.change(people.readOnly.id, { set: { status: 'ReadOnly' } }, [])
  await users.change(people.inactive.id, { set: { status: 'Inactive' } }, [])
  await server.drained(30_000)
}

/** Submits a job on a file, or on its dataset; resolves to its key. */
export const jobKey = async (
  server: TestServer,
  { id: user, call }: Person,
  { file, dataset }: Ids,
  caller: JobKeyCaller,
): Promise<string> => {
  const target =
    caller === 'fileJobKey' ? ({ kind: 'file', id: String(file) } as const) : ({ kind: 'dataset', id: String(dataset) } as const)
  const json = { extractor: 'pounce.digest' }
  const { job_id: id } = await ok<{ job_id: string }>(call(`/api/${target.kind}s/${target.id}/extractions`, { method: 'POST', json }))
  const key = await server.get(Keys).jobKey({ id, target, user, message: { datasetId: dataset } })
  return String(key)
}

const credentialsOf = async (
  server: TestServer,
  people: Readonly<Record<Name, Person>>,
  lab: Ids,
): Promise<ReadonlyMap<CallerName, Credentials>> => {
  const by = (key: string, query = ''): Credentials => ({ headers: { 'x-api-key': key }, query })
  const { email, password, call } = people.spaceAdmin
  const keyOf = (query: string): Promise<string> => newKey(server, email, password, query)
  const revoked = await keyOf('name=revoked')
  await call('/api/users/keys/revoked', { method: 'DELETE' })
  const elsewhere = await post(call, '/api/spaces', { name: 'elsewhere', description: '' })
  return new Map<CallerName, Credentials>([
    ['anonymous', { headers: {}, query: '' }],
    ...(['stranger', 'viewer', 'editor', 'grouped', 'spaceAdmin', 'author', 'readOnly', 'inactive', 'termsPending'] as const).map(
      name => [name, by(people[name].key)] as const,
    ),
    ['serverAdmin', by(server.admin.key)],
    ['superAdmin', by(server.admin.key, 'superAdmin=true')],
    ['extractor', by(await keyOf('name=extractor&scope=extraction'))],
    ['revoked', by(revoked)],
    ['unknownKey', by('unknown')],
    ['readKey', by(await keyOf('name=reading&verbs=read'))],
    ['otherSpaceKey', by(await keyOf(`name=elsewhere&spaces=${elsewhere.id}`))],
    ['fileJobKey', by(await jobKey(server, people.spaceAdmin, lab, 'fileJobKey'))],
    ['datasetJobKey', by(await jobKey(server, people.spaceAdmin, lab, 'datasetJobKey'))],
  ])
}

/** True for an account that can no longer create resources. */
export const isFrozen = (name: string | undefined): boolean => name === undefined || frozen.has(name)
