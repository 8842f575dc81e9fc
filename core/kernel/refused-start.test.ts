import test, { type ExecutionContext } from 'ava'
import { Conflict, collection, DocumentStore, definePlugin, on, type Plugin } from 'pounce/sdk'
import { MemoryDocuments } from '../../test/support/memory-documents.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { bootKernel, type Kernel } from '../boot.ts'
import { ObjectIds, systemClock } from '../services/services.ts'
import { loadConfig } from './config.ts'
import { things } from './fixtures/things.ts'

const notes = (index: string) => collection<{ readonly rank: number }>()('notes', { [index]: { on: ['rank'] } })

class Nothing {
  handle(): Promise<void> {
    return Promise.resolve()
  }
}

/** A version of a plugin: its migrations, and the collections and consumers that it declares. */
const version = (migrations: 'migrations-one' | 'migrations-two', index: string, consumer: string): Plugin =>
  definePlugin({
    id: 'test.things',
    summary: 's',
    collections: [things, notes(index)],
    migrations: new URL(`./fixtures/${migrations}/`, import.meta.url),
    handlers: [on('file.updated', Nothing, consumer)],
    formerHandlers: consumer === 'new' ? ['old'] : [],
  })
const older = version('migrations-one', 'old', 'old')
const newer = version('migrations-two', 'new', 'new')

/** Records what is declared, and forgotten. */
class RecordingDocuments extends MemoryDocuments {
  readonly indexes: string[] = []
  readonly consumers: string[] = []
  readonly forgotten: string[] = []
  isRunElsewhere = false

  constructor() {
    super(systemClock, new ObjectIds(systemClock))
    const { declareConsumers } = this.outbox
    this.outbox.declareConsumers = consumers => {
      this.consumers.push(...consumers.map(({ name }) => name))
      return declareConsumers.call(this.outbox, consumers)
    }
    this.outbox.forget = async name => {
      if (this.isRunElsewhere) throw new Conflict(`The consumer ${name} is loaded: its events are handled`)
      this.forgotten.push(name)
    }
  }

  override async declare(collections: Parameters<DocumentStore['declare']>[0]): Promise<void> {
    this.indexes.push(...collections.filter(({ name }) => name === 'notes').flatMap(({ indexes }) => Object.keys(indexes)))
    return super.declare(collections)
  }
}

const kernelOf = async (t: ExecutionContext, documents: DocumentStore, plugin: Plugin, settings = {}): Promise<Kernel> => {
  const base = { data: await tempFolder(t), roles: ['worker'], log: { level: 'silent' } }
  const config = await loadConfig({ defaults: {}, plugins: [plugin], settings: { ...base, ...settings } })
  const kernel = await bootKernel(config, { log: recordingLog().log, overrides: { [DocumentStore]: documents } })
  t.teardown(() => kernel.stop())
  return kernel
}

test('an older server that is refused leaves the indexes and consumers of the newer one', async t => {
  const documents = new RecordingDocuments()
  await (await kernelOf(t, documents, newer)).start()
  for (const until of ['serving', 'store'] as const)
    await t.throwsAsync((await kernelOf(t, documents, older)).start({ until }), { message: /written by a newer version/ })
  t.deepEqual(documents.indexes, ['new'])
  t.deepEqual(documents.consumers, ['test.things/new'])
})

test('a newer server that is refused leaves the indexes and consumers of the older one', async t => {
  const documents = new RecordingDocuments()
  await (await kernelOf(t, documents, older)).start()
  await t.throwsAsync((await kernelOf(t, documents, newer)).start(), { message: /Pending migrations/ })
  t.deepEqual(documents.indexes, ['old'])
  t.deepEqual(documents.consumers, ['test.things/old'])
  t.deepEqual(documents.forgotten, [])
})

test('a former consumer that an older server still runs does not prevent the start', async t => {
  const documents = new RecordingDocuments()
  const allowed = { dbupdate: true }
  documents.isRunElsewhere = true
  const first = await kernelOf(t, documents, newer, allowed)
  await first.start()
  await first.stop()
  t.deepEqual(documents.forgotten, [])
  documents.isRunElsewhere = false
  await (await kernelOf(t, documents, newer, allowed)).start()
  t.deepEqual(documents.forgotten, ['test.things/old'])
})
