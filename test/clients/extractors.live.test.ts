import test from 'ava'
import { liveExtractors } from './live-extractors.ts'

await liveExtractors(test, '3.0.8')
