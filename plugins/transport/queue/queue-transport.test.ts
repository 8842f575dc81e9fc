import test from 'ava'
import { builtInRunsContract, type MakeTransport, transportContract } from 'pounce/sdk/testing'
import { queueOn, temporaryStores } from './fixtures/queue-under-test.ts'

const makeTransport: MakeTransport = async (t, extractors) => {
  const { folder, documents, blobs } = await temporaryStores(t)
  const open = () => queueOn({ documents, blobs, dataFolder: folder, extractors })
  let queue = open()
  t.teardown(() => queue.dispose())
  return {
    transport: queue,
    prepare: () => Promise.resolve(),
    store: async text => (await blobs.put(Buffer.from(text))).key,
    async reopen() {
      await queue.dispose()
      queue = open()
      return queue
    },
  }
}

transportContract(test, makeTransport)
builtInRunsContract(test, makeTransport)
