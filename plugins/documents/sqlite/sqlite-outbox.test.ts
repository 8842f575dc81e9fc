import test from 'ava'
import { outboxContract } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'

outboxContract(test, (t, tools) => openStore(t, { tools }))
