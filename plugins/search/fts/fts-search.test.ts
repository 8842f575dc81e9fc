import test from 'ava'
import { searchIndexContract } from '../../../sdk/testing/search-index-contract.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'

searchIndexContract(test, async t => (await freshIndex(t)).index)
