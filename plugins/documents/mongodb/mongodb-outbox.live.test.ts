import test from 'ava'
import { liveTests, outboxContract } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

outboxContract(live, (t, tools) => openStore(t, { uri: url('MONGODB'), tools }))
