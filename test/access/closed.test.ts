import test from 'ava'
import { matrixTests } from './matrix-tests.ts'

/** Other routes behave on a closed server as on a private one. */
const isAboutReadings = ({ plugin }: { readonly plugin: string }): boolean => /^resources\.(?:geostreams|sensorthings)$/.test(plugin)

matrixTests(test, 'closed', 0, 1, isAboutReadings)
