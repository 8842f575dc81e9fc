import test from 'ava'
import { documentStoreContract, liveTests } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

documentStoreContract(live, (t, tools) => openStore(t, { uri: url('MONGODB'), tools }))
