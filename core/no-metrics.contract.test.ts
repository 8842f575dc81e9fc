import test from 'ava'
import { metricsContract } from 'pounce/sdk/testing'
import { createMetrics } from './metrics.ts'

metricsContract(test, () => createMetrics(false))
