import test from 'ava'
import { geoStoreModel, liveTests } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

geoStoreModel(
  live,
  async t => {
    const store = await openStore(t, { url: url('POSTGIS') })
    return { store, reopen: async () => store }
  },
  { runs: 100 },
)
