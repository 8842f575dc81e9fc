import { hash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, fromBuffer } from 'yauzl'
import { idOf } from './calls.ts'
import type { Somebody } from './spaces-and-people.ts'

export const newFolder = (owner: Somebody, dataset: string, name: string, parentId = dataset): Promise<string> =>
  idOf(owner.post(`/api/datasets/${dataset}/newFolder`, { name, parentId, parentType: parentId === dataset ? 'dataset' : 'folder' }))

/** Uploads a file without extraction; resolves to its id. */
export const uploadBytes = async (
  owner: Somebody,
  dataset: string,
  name: string,
  bytes: Buffer | string,
  { folder, type = 'application/octet-stream' }: { readonly folder?: string | undefined; readonly type?: string } = {},
): Promise<string> => {
  const form = new FormData()
  form.set('File', new Blob([new Uint8Array(Buffer.from(bytes))], { type }), name)
  const query = folder === undefined ? '' : `&folder_id=${folder}`
  const answer = await owner.call(`/api/uploadToDataset/${dataset}?extract=false${query}`, { method: 'POST', body: form })
  if (answer.status !== 200) throw new Error(await answer.text())
  return ((await answer.json()) as { id: string }).id
}

export const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

/** Downloads an archive; throws for any other response. */
export const downloaded = async (person: Somebody, path: string): Promise<Buffer> => {
  const response = await person.call(path)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return bytesOf(response)
}

/** Path → bytes, in archive order; throws if a length or checksum is wrong. The paths of folders end in a slash. */
export const unzip = (archive: Buffer): Promise<Map<string, Buffer>> =>
  new Promise((resolve, reject) => {
    const found = new Map<string, Buffer>()
    fromBuffer(archive, { lazyEntries: true, strictFileNames: true }, (error, file) => {
      if (error) return reject(error)
      file.on('error', reject)
      file.on('end', () => resolve(found))
      file.on('entry', (member: Entry) => {
        if (found.has(member.fileName)) return reject(new Error(`${member.fileName} is duplicated`))
        file.openReadStream(member, (error, stream) => {
          if (error) return reject(error)
          buffer(stream).then(bytes => {
            if (crc32(bytes) !== member.crc32) return reject(new Error(`${member.fileName}: the checksum is wrong`))
            found.set(member.fileName, bytes)
            file.readEntry()
          }, reject)
        })
      })
      file.readEntry()
    })
  })

/** Path and digest of each file, sorted by path: a short diff when they differ. */
export const digests = (files: Iterable<readonly [string, Buffer]>): readonly string[] =>
  [...files].map(([path, bytes]) => `${path} ${hash('sha256', bytes)}`).toSorted()
