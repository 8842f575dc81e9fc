import test from 'ava'
import { documentStoreModel, liveTests } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

documentStoreModel(live, (t, tools) => openStore(t, { uri: url('MONGODB'), tools }), { runs: 100 })
