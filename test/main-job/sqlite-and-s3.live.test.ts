import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { placesOn } from '../support/server-places.ts'
import { mainJobTests } from './main-job-tests.ts'

const { test: live, url } = liveTests(test, 'S3')

mainJobTests(live, async ending => ({ kernels: 1, settings: (await placesOn(ending, url, ['blobs.s3'])).settings }))
