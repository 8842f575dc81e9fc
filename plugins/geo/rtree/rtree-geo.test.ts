import test from 'ava'
import { geoStoreContract } from 'pounce/sdk/testing'
import { openGeo, testFolder } from './testing.ts'

geoStoreContract(test, async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  const reopen = async () => {
    await store.dispose()
    return openGeo(t, folder)
  }
  return { store, reopen }
})
