import test from 'ava'
import { fetchBelowContract, fetchContract } from 'pounce/sdk/testing'
import { GuardedFetch } from './guarded-fetch.ts'

fetchContract(test, allow => new GuardedFetch({ allow }))
fetchBelowContract(test, allow => new GuardedFetch({ allow }))
