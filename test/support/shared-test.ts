import test from 'ava'
import { heldBack } from './held-declarations.ts'

// The default export of `ava` for the file in the query: see share-process.ts.
export default heldBack(test, new URL(import.meta.url).searchParams.get('file') ?? '')
