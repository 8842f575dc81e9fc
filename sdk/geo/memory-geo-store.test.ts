import test from 'ava'
import { geoStoreContract } from '../testing/geo-store-contract.ts'
import { MemoryGeoStore } from './memory-geo-store.ts'

geoStoreContract(test, async () => {
  const store = new MemoryGeoStore()
  return { store, reopen: async () => store }
})
