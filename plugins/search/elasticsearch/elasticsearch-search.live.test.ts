import test from 'ava'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { searchIndexContract } from '../../../sdk/testing/search-index-contract.ts'
import { freshIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')

searchIndexContract(live, t => freshIndex(t, url('ELASTICSEARCH')))
