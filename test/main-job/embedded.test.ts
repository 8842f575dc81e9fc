import test from 'ava'
import { mainJobTests } from './main-job-tests.ts'

mainJobTests(test, async () => ({ kernels: 1, settings: {} }))
