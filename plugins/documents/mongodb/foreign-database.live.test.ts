import test from 'ava'
import { type Document, MongoClient } from 'mongodb'
import { type Collection, collection } from 'pounce/sdk'
import { liveTests, type Note, type TestContext } from 'pounce/sdk/testing'
import { openStore, testDatabase } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const roles = collection<Note>()('roles', { byName: { on: ['name'], unique: true } })
const things = collection<Note>()('things', { byName: { on: ['name'] } })

const clientFor = async (t: TestContext): Promise<MongoClient> => {
  const client = await MongoClient.connect(url('MONGODB'))
  t.teardown(() => client.close())
  return client
}

/** A database of Clowder v1, which has collections of the same names. */
const foreignDatabase = async (t: TestContext) => {
  const name = testDatabase(t, url('MONGODB'))
  const database = (await clientFor(t)).db(name)
  await database.collection('roles').insertOne({ name: 'Editor', permissions: ['ViewFile'] })
  await database.collection('roles').createIndex({ permissions: 1 })
  return { name, database }
}

const refused = (t: TestContext, name: string, collections: readonly Collection<object>[]) =>
  openStore(t, { uri: url('MONGODB'), database: name }).then(store => t.throwsAsync(store.declare(collections)))

live('a database with data of another program is refused, and keeps its indexes and collections', async t => {
  const { name, database } = await foreignDatabase(t)
  const { message } = await refused(t, name, [things, roles])
  t.is(message, `documents.mongodb.database: ${name} contains data of another program, in roles; use another database`)
  t.deepEqual((await database.collection('roles').indexes()).map((index: Document) => index['name']).sort(), ['_id_', 'permissions_1'])
  const names = (await database.listCollections().toArray()).map(each => each.name)
  t.false(names.includes('things'))
  // Clowder inserts roles that are alike.
  await t.notThrowsAsync(database.collection('roles').insertMany([{ name: 'Editor' }, { name: 'Editor' }]))
})

live('other data in a database are no obstacle, nor are documents that an interrupted first start has left', async t => {
  const { name, database } = await foreignDatabase(t)
  const first = await openStore(t, { uri: url('MONGODB'), database: name })
  await first.declare([things])
  await first.commit<Note>({ insert: { id: 'a', name: 'kept' }, into: things })
  await first.dispose()
  await database.collection('_collections').deleteMany({})
  const second = await openStore(t, { uri: url('MONGODB'), database: name })
  await second.declare([things])
  t.is((await second.get(things, 'a'))?.name, 'kept')
})
