import test from 'ava'
import { searchIndexContract } from '../../../sdk/testing/search-index-contract.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'

// Every search in a thread of its own, as in an index of many documents.
searchIndexContract(test, async t => (await freshIndex(t, 0)).index)
