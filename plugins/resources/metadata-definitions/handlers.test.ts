import test from 'ava'
import { DocumentStore, event, type SpaceRecord, Spaces, type Stored, type StoredEvent } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { CopyDefinitionToSpaces, DeleteDefinitionsOnSpaceRemoved } from './handlers.ts'
import { StoredDefinitions } from './stored-definitions.ts'

let server: TestServer
test.before(async () => {
  server = await bootForTest()
})
test.after.always(() => server?.stop())

const gone = 'a'.repeat(24)
const newSpace = async (name: string): Promise<string> => {
  const answer = await server.as(server.admin.key)('/api/spaces', { method: 'POST', json: { name, description: '' } })
  return ((await answer.json()) as { id: string }).id
}
/** An event as delivered by the outbox, constructed so that it can be redelivered. */
const again = <T extends 'definition.added' | 'space.removed'>(made: ReturnType<typeof event<T>>): StoredEvent<T> => ({
  ...made,
  id: 'e'.repeat(24),
  at: '2026-01-01T00:00:00.000Z',
})
const inScope = (scope: string) => Array.fromAsync(server.get(StoredDefinitions).in(scope))

/** The existing spaces, and one that was deleted after it was read. */
const spacesAnd = (spaces: Spaces, more: string): Spaces =>
  new Proxy(spaces, {
    get(target, name) {
      if (name === 'all')
        return async function* () {
          yield { id: more } as SpaceRecord & Stored
          yield* target.all()
        }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

test('a redelivered event creates no second copy, and no copy for a space that was deleted meanwhile', async t => {
  const spaces = [await newSpace('one'), await newSpace('two')]
  await server.get(StoredDefinitions).add('global', { label: 'copied', type: 'string', uri: 'urn:copied' }, server.admin.id)
  const original = (await inScope('global')).find(({ label }) => label === 'copied')
  await server.drained()
  const copying = new CopyDefinitionToSpaces(server.get(DocumentStore), spacesAnd(server.get(Spaces), gone))
  for (let times = 0; times < 2; times++)
    await copying.handle(again(event('definition.added', { kind: 'definition', id: String(original?.id) }, { space: null })))
  for (const space of spaces) t.is((await inScope(space)).filter(({ uri }) => uri === 'urn:copied').length, 1)
  t.deepEqual(await inScope(gone), [])
})

/** A store in which only the first five changes succeed. */
const interrupted = (documents: DocumentStore): DocumentStore => {
  let left = 5
  return new Proxy(documents, {
    get(target, name) {
      if (name === 'commitEach')
        return async (items: Parameters<DocumentStore['commitEach']>[0]) => {
          const some = items.slice(0, left)
          left -= some.length
          const outcome = await target.commitEach(some)
          if (some.length < items.length) throw new Error('interrupted')
          return outcome
        }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test.serial('a space without definitions gets a copy of each, also if the first attempt is interrupted', async t => {
  await server.get(StoredDefinitions).add('global', { label: 'first', type: 'string', uri: 'urn:first' }, server.admin.id)
  const original = (await inScope('global')).find(({ label }) => label === 'first')
  await server.drained()
  const space = await newSpace('empty')
  const added = again(event('definition.added', { kind: 'definition', id: String(original?.id) }, { space: null }))
  const [documents, spaces] = [server.get(DocumentStore), server.get(Spaces)]
  await t.throwsAsync(new CopyDefinitionToSpaces(interrupted(documents), spaces).handle(added), { message: 'interrupted' })
  t.is((await inScope(space)).length, 5)
  await new CopyDefinitionToSpaces(documents, spaces).handle(added)
  t.deepEqual(
    (await inScope(space)).map(({ uri }) => uri),
    (await inScope('global')).map(({ uri }) => uri),
  )
})

test('a copy that a space has edited is kept, and none is created if the space has a definition with its URI', async t => {
  const space = await newSpace('three')
  const definitions = server.get(StoredDefinitions)
  await definitions.add(space, { label: 'own', type: 'number', uri: 'urn:both' }, server.admin.id)
  await definitions.add('global', { label: 'general', type: 'string', uri: 'urn:both' }, server.admin.id)
  await server.drained()
  t.deepEqual(
    (await inScope(space)).filter(({ uri }) => uri === 'urn:both').map(({ label }) => label),
    ['own'],
  )
})

test('a deleted definition is not copied, and deleting the definitions of a space is idempotent', async t => {
  const documents = server.get(DocumentStore)
  await new CopyDefinitionToSpaces(documents, server.get(Spaces)).handle(
    again(event('definition.added', { kind: 'definition', id: gone }, { space: null })),
  )
  const space = await newSpace('four')
  await server.get(StoredDefinitions).add(space, { label: 'own', type: 'number', uri: 'urn:own' }, server.admin.id)
  const dropping = new DeleteDefinitionsOnSpaceRemoved(documents)
  for (let times = 0; times < 2; times++)
    await dropping.handle(again(event('space.removed', { kind: 'space', id: space }, { name: 'four' })))
  t.deepEqual(await inScope(space), [])
})
