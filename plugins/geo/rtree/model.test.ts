import test from 'ava'
import { geoStoreModel } from 'pounce/sdk/testing'
import { openGeo, testFolder } from './testing.ts'

/** With one place per stream most points of the model are in the R*Tree, with three some of them, with 64 none. */
for (const [placesPerStream, runs] of [
  [1, 60],
  [3, 61],
  [64, 62],
] as const) {
  geoStoreModel(
    test,
    async t => {
      const store = await openGeo(t, await testFolder(t), { placesPerStream })
      return { store, reopen: async () => store }
    },
    { runs },
  )
}
