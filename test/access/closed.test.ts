import test from 'ava'
import { matrixTests } from './asking.ts'

/** Elsewhere a closed server is a private one. */
const isAboutReadings = ({ plugin }: { readonly plugin: string }): boolean => /^resources\.(?:geostreams|sensorthings)$/.test(plugin)

matrixTests(test, 'closed', 0, 1, isAboutReadings)
