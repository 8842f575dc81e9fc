import test from 'ava'
import { searchIndexContract } from '../../../sdk/testing/search-index-contract.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'

// Every search runs in a thread, as with an index of many documents.
searchIndexContract(test, async t => (await freshIndex(t, 0)).index)
