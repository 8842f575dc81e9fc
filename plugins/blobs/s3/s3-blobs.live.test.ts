import test from 'ava'
import { blobStoreContract, blobStoreTemporaryUrlContract, liveTests } from 'pounce/sdk/testing'
import { freshStore } from './test-store.ts'

const { test: live, url } = liveTests(test, 'S3')

blobStoreContract(live, async t => (await freshStore(t, url('S3'))).store)
blobStoreTemporaryUrlContract(live, async t => (await freshStore(t, url('S3'), { redirectAbove: 100 })).store)
