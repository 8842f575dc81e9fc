import test from 'ava'
import { geoStoreContract, liveTests } from 'pounce/sdk/testing'
import { openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

geoStoreContract(live, async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const open = () => openStore(t, { url: url('POSTGIS'), schema })
  const store = await open()
  return {
    store,
    reopen: async () => {
      await store.dispose()
      return open()
    },
  }
})
