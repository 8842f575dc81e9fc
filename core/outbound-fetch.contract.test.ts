import test from 'ava'
import { fetchContract } from 'pounce/sdk/testing'
import { GuardedFetch } from './outbound-fetch.ts'

fetchContract(test, allow => new GuardedFetch(allow))
