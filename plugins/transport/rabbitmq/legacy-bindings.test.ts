import test from 'ava'
import { boundQueues, inputTypesOf } from './legacy-bindings.ts'

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

test('a binding takes a routing key when its key is one of four texts', t => {
  t.deepEqual(boundQueues(bindings, 'clowder.file.image.jpeg'), ['beyond', 'exact', 'kind', 'sub'])
  t.deepEqual(boundQueues(bindings, 'clowder.file.text.plain'), ['kind', 'other'])
  t.deepEqual(boundQueues(bindings, 'clowder.dataset.file.added'), ['dataset'])
  t.deepEqual(boundQueues(bindings, 'extractors.own'), [])
  t.deepEqual(boundQueues([], 'clowder.file.image.jpeg'), [])
})

test('input types are the third fragments', t => {
  t.deepEqual(inputTypesOf(bindings), ['file', 'image', 'text'])
})
