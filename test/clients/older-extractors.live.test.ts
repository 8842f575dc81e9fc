import test from 'ava'
import { liveExtractors } from './live-extractors.ts'

await liveExtractors(test, '2.7.0')
