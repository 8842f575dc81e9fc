import test from 'ava'
import { fetchBelowContract, fetchContract, fetchPostContract } from 'pounce/sdk/testing'
import { GuardedFetch } from './guarded-fetch.ts'

fetchContract(test, allow => new GuardedFetch({ allow }))
fetchBelowContract(test, allow => new GuardedFetch({ allow }))
fetchPostContract(test, allow => new GuardedFetch({ allow }))
