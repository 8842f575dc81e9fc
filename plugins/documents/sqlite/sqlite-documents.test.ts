import test from 'ava'
import { documentStoreContract } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'

documentStoreContract(test, async (t, tools) => openStore(t, { tools }))
