import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { placesOn } from '../support/server-places.ts'
import { stationTests } from './station-tests.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

stationTests(live, {
  stations: 200,
  points: 20_000,
  placed: async t => {
    const { settings } = await placesOn(t, url, ['geo.postgis'])
    return settings
  },
})
