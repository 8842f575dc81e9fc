import test from 'ava'
import { documentStoreModel, usualOrFull } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'

documentStoreModel(test, (t, tools) => openStore(t, { tools }), { runs: usualOrFull(300, 1500) })
documentStoreModel(test, (t, tools) => openStore(t, { tools, settings: { inlineRows: 1 } }), { runs: usualOrFull(150, 500) })
