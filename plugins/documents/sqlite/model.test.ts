import test from 'ava'
import { documentStoreModel } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

documentStoreModel(test, (t, tools) => openStore(t, { tools }), { runs: 1500 })
documentStoreModel(test, (t, tools) => openStore(t, { tools, settings: { inlineRows: 1 } }), { runs: 500 })
