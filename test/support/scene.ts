import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { TestFetch } from 'pounce/sdk/testing'

/** The JSON of a successful response; throws an error with the body for any other response. */
export const ok = async <T>(answer: Promise<Response>): Promise<T> => {
  const response = await answer
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${text}`)
  return JSON.parse(text) as T
}

export const newDataset = async (call: TestFetch, about: Record<string, unknown> = {}): Promise<string> =>
  (await ok<{ id: string }>(call('/api/datasets/createempty', { method: 'POST', json: { name: 'Leaves', description: '', ...about } }))).id

export const newFolder = async (call: TestFetch, dataset: string, name: string, parent = dataset): Promise<string> => {
  const json = { name, parentId: parent, parentType: parent === dataset ? 'dataset' : 'folder' }
  return (await ok<{ id: string }>(call(`/api/datasets/${dataset}/newFolder`, { method: 'POST', json }))).id
}

/** A multipart body with one file. */
export const formWith = (bytes: string | Uint8Array, name: string, type = 'text/plain', field = 'File'): FormData => {
  const form = new FormData()
  form.append(field, new Blob([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)], { type }), name)
  return form
}

/** Uploads one file, by default without extraction. */
export const upload = async (
  call: TestFetch,
  dataset: string,
  bytes: string | Uint8Array = 'hello',
  name = 'hello.txt',
  { type = 'text/plain', query = 'extract=false' } = {},
): Promise<string> =>
  (await ok<{ id: string }>(call(`/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body: formWith(bytes, name, type) }))).id

/** Uploads a file of `test/data`, with extraction. */
export const uploadData = async (call: TestFetch, dataset: string, path: string, type: string): Promise<string> =>
  upload(call, dataset, await readFile(new URL(`../data/${path}`, import.meta.url)), basename(path), { type, query: '' })

/** Status and body of an error response. */
export const refusal = async (answer: Promise<Response>): Promise<{ status: number; code: string; message: string }> => {
  const response = await answer
  const { code, message } = (await response.json()) as { code: string; message: string }
  return { status: response.status, code, message }
}

export const unknownId = 'ffffffffffffffffffffffff'
