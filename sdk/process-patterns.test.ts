import test from 'ava'
import { takesOperation } from './process-patterns.ts'

test('a pattern matches a media type when both parts match', t => {
  for (const pattern of ['image/*', 'image.*', '*/*', '*', '*/jpeg', 'image/jpeg', 'IMAGE/JPEG'])
    t.true(takesOperation(pattern, 'image/jpeg'), pattern)
  for (const pattern of ['text/*', 'image/png', '*/jpg']) t.false(takesOperation(pattern, 'image/jpeg'), pattern)
  t.true(takesOperation('image/*', 'image/JPEG'))
})

test('a subtype with dots is named with dots or, as in routing keys, with underscores', t => {
  for (const operation of ['application/vnd.ms-excel.12', 'application.vnd_ms-excel_12'])
    for (const pattern of [
      'application/vnd.ms-excel.12',
      'application/vnd_ms-excel_12',
      'application.vnd_ms-excel_12',
      'application.vnd.ms-excel.12',
    ])
      t.true(takesOperation(pattern, operation), `${pattern} ${operation}`)
  t.false(takesOperation('application/vnd.*', 'application/vnd.ms-excel'))
})

test('patterns and operations that do not have exactly two parts never match', t => {
  for (const pattern of ['image', '', '*/*/*', '/', '.', 'image/', 'image.', '/jpeg', '.jpeg'])
    t.false(takesOperation(pattern, 'image/jpeg'), pattern)
  t.false(takesOperation('*/*', 'jpeg'))
  t.true(takesOperation('*', 'jpeg'))
})

test('operations are split at a dot or a slash', t => {
  for (const pattern of ['file.added', 'file/added', 'file.*', '*/added', '*.*', '*'])
    t.true(takesOperation(pattern, 'file.added'), pattern)
  for (const pattern of ['files.added', 'file.removed', 'file', '', 'dataset.file.added'])
    t.false(takesOperation(pattern, 'file.added'), pattern)
  t.true(takesOperation('added.*', 'added.dataset'))
})
