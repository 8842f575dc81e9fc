import { BlobStore, Datasets, DocumentStore, Mailer, Users } from 'pounce/sdk'
import { sensorIdOf } from 'pounce/sdk/geo'
import { bootForTest, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newKey, type Person } from '../support/people.ts'
import { ok, upload } from '../support/scene.ts'
import { known, makePeople, narrowKey, type Parts, plantImport, plantMembers, plantMessages, plantOwn, post } from './canary-own.ts'
import { plantReadings } from './canary-readings.ts'
import { type Ids, photoWith, plantDataset, plantSpace } from './canary-things.ts'
import { classes, type TokenClass, Tokens } from './canary-tokens.ts'

/** A caller, and the classes of tokens that it must not find. */
export interface Observer {
  readonly server: TestServer
  /** Undefined for an anonymous caller. */
  readonly key: string | undefined
  readonly hidden: ReadonlySet<TokenClass>
  /** A server admin, who may see the responses of admin-only routes. */
  readonly isAdmin?: true
  /** The id of an account that was a member of the space. */
  readonly formerMember?: string
}

/** A server with planted words, and the callers that search for them. */
export interface CanaryWorld {
  readonly server: TestServer
  readonly tokens: Tokens
  readonly mailer: MemoryMailer
  /** Ids by the fate of the resources: `restricted`, `trashed`, `gone`, `importing`, `shown`. */
  readonly sets: Readonly<Record<string, Ids>>
  readonly author: Observer
  readonly outsiders: Readonly<Record<string, Observer>>
  readonly insiders: Readonly<Record<string, Observer>>
  readonly people: Readonly<Record<string, Person>>
  /** Mail addresses of users who are visible to members only. */
  readonly addresses: readonly string[]
  /** Trashes, deletes and removes the resources of these sets. Before this the author finds every word. */
  darken(): Promise<void>
  /** Adds resources that are visible to members only, or on a public server to their author only. */
  addMore(): Promise<void>
  /** Completes the import. */
  reveal(): Promise<void>
}

/** Registers ids, which are visible only to callers who may view the resource. */
const watchIds = (tokens: Tokens, sets: CanaryWorld['sets']): void => {
  for (const [name, of] of Object.entries(classes))
    for (const [kind, id] of Object.entries(sets[name] ?? {})) if (/^[0-9a-f]{24}$/.test(id)) tokens.watch(id, `${name} id of ${kind}`, of)
}

/** Registers internal strings: hashes, names of blobs, the data folder, and secrets of the configuration. */
const watchSecrets = async ({ server, tokens }: Parts): Promise<void> => {
  const documents = server.get(DocumentStore)
  for await (const { key } of server.get(BlobStore).list()) tokens.watch(key.replace(/^.*\//, ''), 'name of a blob', 'secret')
  const { collections } = await import('../../plugins/resources/users/index.ts').then(({ plugin }) => plugin)
  for (const each of collections ?? [])
    for await (const document of documents.walk(each))
      for (const [name, value] of Object.entries(document))
        if (/hash|secret|token/i.test(name) && typeof value === 'string')
          tokens.watch(value.split('$').at(-1) ?? value, `${each.name} ${name}`, 'secret')
  tokens.watch(server.folder.replace(/^.*\//, ''), 'data folder', 'secret')
}

const everyWord: readonly TokenClass[] = ['restricted', 'bytes', 'person', 'trashed', 'pending', 'own', 'secret']
const onPublic: readonly TokenClass[] = ['bytes', 'trashed', 'pending', 'own', 'secret']

/** Boots a server and plants a word in everything that can be private. `stopAfter` receives its stop function, even if planting fails. */
export const makeCanaryWorld = async (isPrivate: boolean, stopAfter: (stop: () => Promise<void>) => void): Promise<CanaryWorld> => {
  const tokens = new Tokens()
  const mailer = new MemoryMailer()
  const bus = new FakeBus()
  const secret = (field: string): string => tokens.mint(field, 'secret')
  const server = await bootForTest({
    t: { teardown: stopAfter },
    also: [bus.plugin],
    overrides: { [Mailer]: mailer },
    config: {
      access: { private: isPrivate, policy: { makeGeostreamsPublicReadable: false } },
      resources: {
        users: { commKey: `${secret('commKey')}-and-more-of-it-to-be-long-enough` },
        proxy: { endpoints: { canary: `http://${secret('proxy.user')}:${secret('proxy.password')}@127.0.0.1:9/${secret('proxy.path')}` } },
      },
    },
  })
  await bus.introduce(extractorInfo('canary.any'))
  const people = await makePeople(server, tokens)
  const parts: Parts = { server, tokens, people, bus }
  const { ann, pam, editor, viewer, former } = people
  const planter = (of: TokenClass, bytes = of, call = ann.call) => ({ call, tokens, of, bytes })

  const places = await plantSpace(planter('restricted'), 'private')
  const space = String(places['space'])
  const rolesandusers = { Editor: `${editor.id},${former.id},${pam.id}`, Viewer: viewer.id }
  await post(server.as(server.admin.key), `/api/spaces/${space}/updateUsers?superAdmin=true`, { rolesandusers })
  const into = { space, collection: String(places['collection']) }
  const restricted = {
    ...{ ...places, ...(await plantDataset(planter('restricted', 'bytes'), 'private', into)) },
    ...(await plantReadings(planter('restricted'), 'private', space)),
  }
  const dataset = String(restricted['dataset'])
  await upload(ann.call, dataset, await photoWith(tokens.mint('photo.exif', 'restricted')), 'p.jpg', { type: 'image/jpeg', query: '' })
  const archived = await plantDataset(planter('restricted', 'bytes'), 'archived', into)
  await post(server.as(server.admin.key), `/api/files/${archived['file']}/archive?superAdmin=true`)
  const trashed = await plantDataset(planter('trashed'), 'trashed', into)
  const gone = { ...(await plantDataset(planter('pending'), 'gone', into)), ...(await plantReadings(planter('pending'), 'gone', space)) }
  const importing = await plantImport(parts, space)
  const own = await plantOwn(parts, dataset, String(restricted['file']))
  const members = await plantMembers(parts, space, isPrivate)

  const shownPlaces = await plantSpace(planter('shown', 'shown', pam.call), 'public')
  const admin = server.as(server.admin.key)
  await post(admin, `/api/spaces/${shownPlaces['space']}/verify`, undefined, 'PUT')
  const open = await ok<{ name: string; description: string }>(pam.call(`/api/spaces/${shownPlaces['space']}`))
  const update = { name: open.name, description: open.description, timetolive: '24', enabled: false, access: 'PUBLIC' }
  await post(pam.call, `/api/spaces/${shownPlaces['space']}/update`, update)
  const shown = {
    ...shownPlaces,
    ...(await plantDataset(planter('shown', 'bytes', pam.call), 'public', {
      space: String(shownPlaces['space']),
      collection: String(shownPlaces['collection']),
    })),
    ...(await plantReadings(planter('shown', 'shown', pam.call), 'public', String(shownPlaces['space']))),
  }
  // Public resources are connected with private ones.
  await post(pam.call, `/api/datasets/${dataset}/files/${shown['file']}`)
  await post(pam.call, `/api/collections/${restricted['collection']}/datasets/${shown['dataset']}`)
  await post(pam.call, `/api/collections/${shown['collection']}/datasets/${dataset}`)
  const rdfType = `http://example.org/${tokens.mint('mixed relation.type', 'restricted')}`
  const end = (id: string | undefined) => ({ id, resourceType: 'dataset' })
  await post(pam.call, '/api/relations', { source: end(shown['dataset']), target: end(dataset), rdfType })

  for (const path of [`spaces/${space}`, `datasets/${dataset}`, `datasets/${trashed['dataset']}`, `datasets/${gone['dataset']}`])
    await post(former.call, `/api/${path}/follow`)
  await post(former.call, '/api/selected', { dataset })
  const { other, stranger, readOnly } = people
  await post(other.call, '/api/spaces', { name: 'elsewhere', description: '' })
  await server.get(Users).change(readOnly.id, { set: { status: 'ReadOnly' } }, [])
  const extractor = await newKey(server, stranger.email, stranger.password, 'name=extractor&scope=extraction')
  await server.drained()

  const hidden = new Set(isPrivate ? everyWord : onPublic)
  const seenBy = (key: string | undefined, without: readonly TokenClass[] = [], more: Partial<Observer> = {}): Observer => ({
    server,
    key,
    hidden: new Set([...hidden].filter(each => !without.includes(each))),
    ...more,
  })
  const inside: readonly TokenClass[] = ['restricted', 'person']
  const sets = {
    restricted: { ...restricted, ...own, ...members },
    archived,
    trashed,
    gone,
    importing,
    shown,
    people: { user: ann.id, path: `user-${ann.id}` },
  }
  watchIds(tokens, sets)
  await plantMessages(parts, sets)
  return {
    server,
    tokens,
    mailer,
    people,
    addresses: known.map(name => people[name].email),
    sets,
    author: { server, key: ann.key, hidden: new Set(['secret']) },
    outsiders: {
      anonymous: seenBy(undefined),
      stranger: seenBy(stranger.key),
      'member of another space': seenBy(other.key),
      'ReadOnly stranger': seenBy(readOnly.key),
      'former member': seenBy(former.key, [], { formerMember: former.id }),
      "stranger's extraction key": seenBy(extractor),
      "author's key for another space": {
        server,
        key: await narrowKey(parts),
        hidden: new Set(everyWord.filter(each => each !== 'person')),
      },
      'server admin': seenBy(server.admin.key, ['person'], { isAdmin: true }),
    },
    insiders: { viewer: seenBy(viewer.key, inside), editor: seenBy(editor.key, [...inside, 'bytes']) },
    async darken() {
      await post(ann.call, `/api/datasets/${trashed['dataset']}`, undefined, 'DELETE')
      await post(ann.call, `/api/spaces/${space}/removeUser?removeUser=${former.id}`)
      await server.drained()
      // Only the tombstone: the cascade has not run yet.
      const { datasets } = await import('../../plugins/resources/datasets/collection.ts')
      await server.get(DocumentStore).commit({ tombstone: String(gone['dataset']), in: datasets })
      const { sensors } = await import('../../plugins/resources/geostreams/collections.ts')
      await server.get(DocumentStore).commit({ tombstone: sensorIdOf(Number(gone['sensor'])), in: sensors })
      await watchSecrets(parts)
    },
    async addMore() {
      const of = isPrivate ? 'restricted' : 'trashed'
      const { dataset: added } = await plantDataset(planter(of), 'added', into)
      if (isPrivate) await plantSpace(planter(of), 'added')
      if (isPrivate) await plantReadings(planter(of), 'added', space)
      else await post(ann.call, `/api/datasets/${added}`, undefined, 'DELETE')
      await server.drained()
    },
    async reveal() {
      await server.get(Datasets).reveal(String(importing['dataset']))
      await server.drained()
    },
  }
}
