import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { placesOn } from '../support/server-places.ts'
import { resourcesModel } from './resources-model.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

resourcesModel(live, async t => ({ env: (await placesOn(t, url, ['documents.mongodb'])).settings }))
