import test from 'ava'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { searchCorpusContract } from '../../../sdk/testing/search-corpus-contract.ts'
import { freshIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')

searchCorpusContract(live, t => freshIndex(t, url('ELASTICSEARCH')))
