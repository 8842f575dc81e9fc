import type { TestFetch } from 'pounce/sdk/testing'
import { dataFile } from '../support/main-job.ts'
import { formWith, newFolder, ok, upload } from '../support/scene.ts'
import type { TokenClass, Tokens } from './canary-tokens.ts'

/** Ids by kind: `dataset`, `file` … */
export type Ids = Readonly<Record<string, string>>

/** The user who plants, and the classes of the words. */
export interface Planter {
  readonly call: TestFetch
  readonly tokens: Tokens
  readonly of: TokenClass
  /** The class of the contents of files. */
  readonly bytes: TokenClass
}

const pngStart = Buffer.from('89504e470d0a1a0a', 'hex')

/** A picture of `test/data` with a word in a text chunk, like those of cameras and editors. */
export const pictureWith = async (word: string): Promise<Buffer> => {
  const { crc32 } = await import('node:zlib')
  const picture = await dataFile('picture.png')
  const body = Buffer.from(`tEXtComment\0${word}`)
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length - 4)
  sum.writeUInt32BE(crc32(body))
  const headEnd = pngStart.length + 25
  return Buffer.concat([picture.subarray(0, headEnd), length, body, sum, picture.subarray(headEnd)])
}

/** A photo with a word in its EXIF description, which the image extractor reads. */
export const photoWith = async (word: string): Promise<Buffer> => {
  const photo = await dataFile('photo.jpg')
  const text = Buffer.from(`${word} by the sea\0\0`)
  const entry = Buffer.alloc(18)
  entry.writeUInt16BE(1, 0)
  entry.writeUInt16BE(0x010e, 2)
  entry.writeUInt16BE(2, 4)
  entry.writeUInt32BE(text.length, 6)
  entry.writeUInt32BE(8 + 18, 10)
  const tiff = Buffer.concat([Buffer.from('4d4d002a00000008', 'hex'), entry, text])
  const segment = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff])
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(segment.length + 2, 2)
  return Buffer.concat([photo.subarray(0, 2), head, segment, photo.subarray(2)])
}

/** Sends JSON or a form; resolves to the id in the response, or to its text if it has none. */
const sender = (call: TestFetch) => {
  const send = async (path: string, init: Parameters<TestFetch>[1]): Promise<string> => {
    const answer = await call(path, { method: 'POST', ...init })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${path} ${text}`)
    return /"(?:id|job_id)"\s*:\s*"([0-9a-f]{24})"/.exec(text)?.[1] ?? /[0-9a-f]{24}/.exec(text)?.[0] ?? ''
  }
  return {
    post: (path: string, json: unknown = undefined) => send(path, { json }),
    put: (path: string, json: unknown = undefined) => send(path, { json, method: 'PUT' }),
    form: (path: string, bytes: Uint8Array | string, name: string, type: string, more: Readonly<Record<string, string>> = {}) => {
      const body = formWith(bytes, name, type, path === '/api/logos' ? 'image' : 'File')
      for (const [key, value] of Object.entries(more)) body.append(key, value)
      return send(path, { body })
    },
  }
}

const documentOf = (word: (field: string) => string, kind: string) => {
  const name = word(`${kind}.metadata.extractor`)
  return {
    '@context': { [word(`${kind}.metadata.context.key`)]: `http://example.org/${word(`${kind}.metadata.context`)}` },
    agent: { '@type': 'cat:extractor', name, extractor_id: `https://example.org/extractors/${name}/1.0` },
    content: {
      [word(`${kind}.metadata.key`)]: word(`${kind}.metadata.value`),
      deep: [{ [word(`${kind}.metadata.deepKey`)]: word(`${kind}.metadata.deepValue`) }],
    },
  }
}

const licenseOf = (word: (field: string) => string, kind: string) => ({
  licenseType: 'license1',
  rightsHolder: word(`${kind}.license.rightsHolder`),
  licenseText: word(`${kind}.license.text`),
  licenseUrl: `https://example.org/${word(`${kind}.license.url`)}`,
  allowDownload: 'false',
})

const wordsOf = ({ tokens, of, bytes }: Planter, label: string) => ({
  word: (field: string) => tokens.mint(`${label} ${field}`, of),
  bytesWord: (field: string) => tokens.mint(`${label} ${field}`, bytes),
})

/** A space with definitions, metadata, a logo and a vocabulary, and two nested collections. */
export const plantSpace = async (planter: Planter, label: string): Promise<Ids> => {
  const { post, form } = sender(planter.call)
  const { word } = wordsOf(planter, label)
  const space = await post('/api/spaces', { name: word('space.name'), description: word('space.description') })
  await post(`/api/spaces/${space}/metadata`, {
    label: word('definition.label'),
    type: 'string',
    uri: `http://example.org/${word('definition.uri')}`,
    description: word('definition.description'),
    definitions_url: `http://example.org/${word('definition.url')}`,
    query_parameter: word('definition.queryParameter'),
  })
  const defined = await ok<readonly { id: string; json: { label: string } }[]>(planter.call(`/api/spaces/${space}/metadata`))
  const definition = String(defined.find(({ json }) => planter.tokens.in(json.label).size > 0)?.id)
  const spaceMetadata = await post(`/api/spaces/${space}/metadata.jsonld`, documentOf(word, 'space'))
  const path = `space-${space}`
  const logo = await form('/api/logos', await pictureWith(word('logo.bytes')), 'logo.png', 'image/png', {
    path,
    name: word('logo.name'),
  })
  const vocabulary = await post('/api/vocabularies/createVocabularyFromJson', {
    name: word('vocabulary.name'),
    description: word('vocabulary.description'),
    keys: word('vocabulary.keys'),
    tags: word('vocabulary.tags'),
    terms: [
      { key: word('term.key'), units: word('term.units'), default_value: word('term.default'), description: word('term.description') },
    ],
  })
  await post(`/api/vocabularies/${vocabulary}/addToSpace/${space}`)
  const { terms } = await ok<{ terms: readonly { vocab_term_id: string }[] }>(planter.call(`/api/vocabularies/${vocabulary}`))
  const collection = await post('/api/collections', { name: word('collection.name'), description: word('collection.description'), space })
  await post(`/api/collections/${collection}/tags`, { tags: [word('collection.tag')] })
  await post(`/api/collections/${collection}/metadata.jsonld`, documentOf(word, 'collection'))
  const child = await post('/api/collections/newCollectionWithParent', {
    name: word('child.name'),
    description: word('child.description'),
    parentId: collection,
  })
  return { space, definition, spaceMetadata, logo, path, vocabulary, term: String(terms[0]?.vocab_term_id), collection, child }
}

/** A file with everything that can be attached: tags, metadata, comments, a section, a preview with tiles, a thumbnail, an extraction and a link. */
const plantFile = async (planter: Planter, label: string, dataset: string, folder: string): Promise<Ids> => {
  const { post, put, form } = sender(planter.call)
  const { word, bytesWord } = wordsOf(planter, label)
  const original = `${word('file.originalName')}.txt`
  const options = { type: `text/${word('file.type')}`, query: `extract=false&folder_id=${folder}` }
  const file = await upload(planter.call, dataset, `content ${bytesWord('file.bytes')}`, original, options)
  await put(`/api/files/${file}/filename`, { name: `${word('file.name')}.txt` })
  await put(`/api/files/${file}/updateDescription`, { description: word('file.description') })
  await post(`/api/files/${file}/license`, licenseOf(word, 'file'))
  await post(`/api/files/${file}/tags`, { tags: [word('file.tag')] })
  await post(`/api/files/${file}/metadata.jsonld`, documentOf(word, 'file'))
  const metadata = await post('/api/metadata.jsonld', { file_id: file, content: { [word('file.user.key')]: word('file.user.value') } })
  const comment = await post(`/api/files/${file}/comment`, { text: word('file.comment') })
  await post(`/api/comment/${comment}`, { text: word('file.answer') })
  const section = await post('/api/sections', {
    file_id: file,
    description: word('section.description'),
    [word('section.key')]: word('section.value'),
  })
  await post(`/api/sections/${section}/tags`, { tags: [word('section.tag')] })
  await post(`/api/sections/${section}/comments`, { text: word('section.comment') })
  const sectionThumbnail = await form('/api/fileThumbnail', await pictureWith(word('section.thumbnail')), 't.png', 'image/png')
  await post(`/api/sections/${section}/thumbnails/${sectionThumbnail}`, {})
  const preview = await form('/api/previews', `seen ${word('preview.bytes')}`, `${word('preview.filename')}.txt`, 'text/plain')
  await post(`/api/files/${file}/previews/${preview}`, { extractor_id: word('preview.extractor') })
  await post(`/api/previews/${preview}/title`, { title: word('preview.title') })
  const tile = await form('/api/tiles', await pictureWith(word('tile.bytes')), '1_2.png', 'image/png')
  await post(`/api/previews/${preview}/tiles/${tile}/3`, {})
  const thumbnail = await form(
    '/api/fileThumbnail',
    await pictureWith(word('thumbnail.bytes')),
    `${word('thumbnail.filename')}.png`,
    'image/png',
  )
  await post(`/api/files/${file}/thumbnails/${thumbnail}`, {})
  return { file, metadata, comment, section, preview, tile, thumbnail, sectionThumbnail, level: '3', filename: '1_2.png' }
}

/** A dataset with a folder and a file, and words in every field. */
export const plantDataset = async (
  planter: Planter,
  label: string,
  into: { readonly space?: string; readonly collection?: string } = {},
): Promise<Ids> => {
  const { post } = sender(planter.call)
  const { word } = wordsOf(planter, label)
  const dataset = await post('/api/datasets/createempty', {
    name: word('dataset.name'),
    description: word('dataset.description'),
    ...(into.space === undefined ? {} : { space: [into.space] }),
    ...(into.collection === undefined ? {} : { collection: [into.collection] }),
  })
  await post(`/api/datasets/${dataset}/creator`, { creator: word('dataset.creator') })
  await post(`/api/datasets/${dataset}/license`, licenseOf(word, 'dataset'))
  await post(`/api/datasets/${dataset}/tags`, { tags: [word('dataset.tag')] })
  await post(`/api/datasets/${dataset}/metadata.jsonld`, documentOf(word, 'dataset'))
  const datasetMetadata = await post('/api/metadata.jsonld', {
    dataset_id: dataset,
    content: { [word('dataset.user.key')]: word('dataset.user.value') },
  })
  const datasetComment = await post(`/api/datasets/${dataset}/comment`, { text: word('dataset.comment') })
  const folder = await newFolder(planter.call, dataset, word('folder.name'))
  const below = await newFolder(planter.call, dataset, word('folder below.name'), folder)
  const inFile = await plantFile(planter, label, dataset, below)
  const ends = { source: { id: dataset, resourceType: 'dataset' }, target: { id: inFile['file'], resourceType: 'file' } }
  const relation = await post('/api/relations', { ...ends, rdfType: `http://example.org/${word('relation.type')}` })
  const { job_id: job = '' } = await ok<{ job_id?: string }>(
    planter.call(`/api/files/${inFile['file']}/extractions`, {
      method: 'POST',
      json: { extractor: 'canary.any' },
    }),
  )
  return { dataset, datasetMetadata, datasetComment, folder: below, top: folder, relation, ...inFile, job }
}
