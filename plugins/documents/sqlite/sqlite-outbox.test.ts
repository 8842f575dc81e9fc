import test from 'ava'
import { outboxContract } from 'pounce/sdk/testing'
import { openStore } from './testing.ts'

outboxContract(test, (t, tools) => openStore(t, { tools }))
