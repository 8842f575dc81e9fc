import test from 'ava'
import { stationTests } from './station-tests.ts'

stationTests(test, { stations: 200, points: 60_000 })
