import test from 'ava'
import { canaryTests } from './canary-rounds.ts'

canaryTests(test, false, ['stranger'])
