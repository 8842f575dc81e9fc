import test from 'ava'
import { takes, takesOperation } from './matching.ts'

test('a pattern takes a media type when both parts fit', t => {
  t.true(takes('image/*', 'image/jpeg'))
  t.true(takes('*/*', 'application/vnd.ms-excel'))
  t.true(takes('*/jpeg', 'image/JPEG'))
  t.true(takes('application/vnd.ms-excel', 'application/vnd.ms-excel'))
  t.false(takes('image/*', 'text/plain'))
})

test('patterns and types that do not have exactly two parts never match', t => {
  for (const pattern of ['*', 'image', '', '*/*/*', '/', 'image/']) t.false(takes(pattern, 'image/jpeg'))
  t.false(takes('*/*', 'jpeg'))
})

test('operations are parted at dots and slashes', t => {
  for (const pattern of ['file.added', 'file/added', 'file.*', '*/added', '*.*']) t.true(takesOperation(pattern, 'file.added'), pattern)
  for (const pattern of ['files.added', 'file.removed', '*', 'file', '', 'dataset.file.added']) {
    t.false(takesOperation(pattern, 'file.added'), pattern)
  }
  t.true(takesOperation('added.*', 'added.dataset'))
})
