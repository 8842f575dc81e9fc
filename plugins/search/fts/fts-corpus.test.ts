import test from 'ava'
import { searchCorpusContract } from 'pounce/sdk/testing'
import { freshIndex } from '../../../test/support/fts-index.ts'

searchCorpusContract(test, async t => (await freshIndex(t)).index)
