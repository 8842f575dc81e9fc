import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { placesOn } from '../support/server-places.ts'
import { mainJobTests } from './main-job-tests.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

mainJobTests(live, async ending => ({ kernels: 1, settings: (await placesOn(ending, url, ['documents.mongodb'])).settings }))
