import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { placesOn } from '../support/server-places.ts'
import { mainJobTests } from './main-job-tests.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH', 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

mainJobTests(live, async ending => ({
  kernels: 2,
  settings: (await placesOn(ending, url, ['documents.mongodb', 'blobs.s3', 'search.elasticsearch', 'transport.rabbitmq'])).settings,
}))
