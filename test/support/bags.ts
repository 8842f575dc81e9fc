import { hash } from 'node:crypto'
import { type ZipEntry, zip } from '../../scripts/test-data/zip.ts'
import type { Somebody } from './spaces-and-people.ts'

/** Path → text or bytes. */
export type Files = Readonly<Record<string, string | Buffer>>

export const zipOf = (files: Files, folder = ''): Buffer =>
  zip(Object.entries(files).map(([name, bytes]): ZipEntry => ({ name: folder + name, bytes: Buffer.from(bytes) })))

const manifest = (files: Files, algorithm: string, gap = '  '): string =>
  Object.entries(files)
    .map(([path, bytes]) => `${hash(algorithm, Buffer.from(bytes))}${gap}${path}\n`)
    .join('')

/** Deviations from, and additions to, a valid bag. */
export interface BagShape {
  readonly version?: string
  readonly algorithm?: string
  /** Additional tag files, or replacements. */
  readonly tags?: Files
}

/** The files of a valid bag with the given payload, whose paths are without `data/`. */
export const bagFiles = (payload: Files, { version = '1.0', algorithm = 'sha256', tags = {} }: BagShape = {}): Files => {
  const data = Object.fromEntries(Object.entries(payload).map(([path, bytes]) => [`data/${path}`, bytes]))
  const bytes = Object.values(data).reduce((sum: number, each) => sum + Buffer.byteLength(each), 0)
  const listed = {
    'bagit.txt': `BagIt-Version: ${version}\nTag-File-Character-Encoding: UTF-8\n`,
    'bag-info.txt': `Payload-Oxum: ${bytes}.${Object.keys(data).length}\n`,
    [`manifest-${algorithm}.txt`]: manifest(data, algorithm),
    ...tags,
  }
  return { ...data, ...listed, [`tagmanifest-${algorithm}.txt`]: manifest(listed, algorithm) }
}

export const bagZip = (payload: Files, shape?: BagShape): Buffer => zipOf(bagFiles(payload, shape))

/** A bag with Clowder v1's faults (reference, api-data §9): names swapped, payload miscounted, double slashes, a single space in its manifest, XML not escaped. */
export const v1Bag = (
  described: Files,
  { title = 'Soil & water', xml }: { readonly title?: string; readonly xml?: string } = {},
): Buffer => {
  const { '_info.json': info = '{}', ...rest } = described
  const data = Object.fromEntries(Object.entries(rest).map(([path, bytes]) => [`data/${path}`, bytes]))
  const [bagit, bagInfo] = [
    'Bag-Software-Agent: clowder.ncsa.illinois.edu\nBagging-Date: 2018-06-20 11:40:25\nPayload-Oxum: 17.1\nInternal-Sender-Identifier: x\n',
    'BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n',
  ]
  const md5 = manifest({ 'data/_info.json': info, ...data }, 'md5', ' ')
  return zipOf({
    'data//_info.json': info,
    ...data,
    'bagit.txt': bagit,
    'bag-info.txt': bagInfo,
    'manifest-md5.txt': md5,
    'metadata/datacite.xml':
      xml ??
      `<resource xsi:schemaLocation="x"><creators><creator><creatorName>Ada</creatorName></creator></creators><titles><title>${title}</title></titles></resource>`,
    'metadata/clowder.xml': `<clowderDataset><id>x</id><name>${title}</name><tags>soil, wet</tags></clowderDataset>`,
    'tagmanifest-md5.txt': `${hash('md5', bagInfo)} bagit.txt\n${hash('md5', bagit)} bag-info.txt\n${hash('md5', md5)} manifest-md5.txt\n`,
  })
}

/** Imports a bag; resolves to the response. */
export const importBag = async (
  person: Somebody,
  archive: Uint8Array,
  filename = 'bag.zip',
): Promise<{ readonly status: number; readonly text: string; readonly id: string; readonly message: string }> => {
  const form = new FormData()
  form.set('bag', new Blob([new Uint8Array(archive)], { type: 'application/zip' }), filename)
  const response = await person.call('/api/datasets/createfrombag', { method: 'POST', body: form })
  const text = await response.text()
  const message = response.status === 200 ? '' : (JSON.parse(text) as { message: string }).message
  return { status: response.status, text, id: /^Created dataset ([0-9a-f]{24})$/.exec(text)?.[1] ?? '', message }
}
