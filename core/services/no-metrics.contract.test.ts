import test from 'ava'
import { metricsContract, silent } from 'pounce/sdk/testing'
import { createMetrics } from './metrics.ts'

metricsContract(test, () => createMetrics(false, silent))
