import test from 'ava'
import { boundQueues, inputTypesOf } from './rabbit-bus.ts'

const bindings = [
  { queue: 'exact', key: '*.file.image.jpeg' },
  { queue: 'sub', key: '*.file.image.#' },
  { queue: 'kind', key: '*.file.#' },
  { queue: 'beyond', key: '*.file.image.jpeg.#' },
  { queue: 'literal', key: 'clowder.file.image.jpeg' },
  { queue: 'other', key: '*.file.text.#' },
  { queue: 'dataset', key: '*.dataset.file.added' },
  { queue: 'own', key: 'extractors.own' },
  { queue: 'kind', key: '*.file.image.#' },
]

test('a binding matches routing keys of its kind whose type and subtype match', t => {
  t.deepEqual(boundQueues(bindings, 'clowder.file.image.jpeg'), ['beyond', 'exact', 'kind', 'sub'])
  t.deepEqual(boundQueues(bindings, 'clowder.file.text.plain'), ['kind', 'other'])
  t.deepEqual(boundQueues(bindings, 'clowder.dataset.file.added'), ['dataset'])
  t.deepEqual(boundQueues(bindings, 'extractors.own'), [])
  t.deepEqual(boundQueues([], 'clowder.file.image.jpeg'), [])
})

test('a binding key matches whether it has dots or underscores in the subtype', t => {
  const excel = ['*.file.application.vnd.ms-excel', '*.file.application.vnd_ms-excel', '*.file.application.#', '*.file.#'].map(
    (key, at) => ({
      queue: `excel${at}`,
      key,
    }),
  )
  t.deepEqual(
    boundQueues(excel, 'clowder.file.application.vnd_ms-excel'),
    excel.map(({ queue }) => queue),
  )
  const dataset = [...excel, { queue: 'all', key: '*.dataset.#' }, { queue: 'files', key: '*.dataset.file.#' }]
  t.deepEqual(boundQueues(dataset, 'clowder.dataset.file.removed'), ['all', 'files'])
  t.deepEqual(boundQueues(dataset, 'clowder.metadata.added.file'), [])
})

test('input types are the third segments of the binding keys', t => {
  t.deepEqual(inputTypesOf(bindings), ['file', 'image', 'text'])
})
