import test from 'ava'
import { usualOrFull } from 'pounce/sdk/testing'
import { stationTests } from './station-tests.ts'

stationTests(test, { stations: 200, points: usualOrFull(30_000, 60_000) })
