import test from 'ava'
import { deferred } from './deferred-declarations.ts'

// The default export of `ava` for the file in the query: see share-process.ts.
export default deferred(test, new URL(import.meta.url).searchParams.get('file') ?? '')
