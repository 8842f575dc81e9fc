import test from 'ava'
import { blobStoreContract, blobStoreLocalPathContract } from '../../../sdk/testing/blob-store-contract.ts'
import { blobStoreCrc32Contract } from '../../../sdk/testing/blob-store-crc-contract.ts'
import { freshStore } from './test-store.ts'

const makeStore = async (t: Parameters<typeof freshStore>[0]) => (await freshStore(t)).store

blobStoreContract(test, makeStore)
blobStoreLocalPathContract(test, makeStore)
blobStoreCrc32Contract(test, makeStore)
