import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from './calls.ts'
import { newSensor, newStream, pointAt } from './geostreams.ts'
import { dataFile } from './main-job.ts'
import { newPerson, type Person } from './people.ts'
import { formWith, newDataset, newFolder, ok, unknownId, upload } from './scene.ts'
import { until } from './until.ts'

/** Ids by kind: `space`, `dataset`, `file`, `job` … */
export type Ids = Readonly<Record<string, string>>

/** A server with one resource of each kind, all owned by one user. */
export interface Furnished {
  readonly server: TestServer
  readonly person: Person
  readonly call: TestFetch
  readonly ids: Ids
}

const vocabularyOf = async (call: TestFetch): Promise<Ids> => {
  const json = { name: 'words', keys: 'a', terms: [{ key: 'a' }] }
  const { id: vocabulary } = await ok<{ id: string }>(call('/api/vocabularies/createVocabularyFromJson', { method: 'POST', json }))
  const { terms } = await ok<{ terms: readonly { vocab_term_id: string }[] }>(call(`/api/vocabularies/${vocabulary}`))
  return { vocabulary, term: String(terms[0]?.vocab_term_id) }
}

/** A logo, a relation, and an unfinished resumable upload. */
const asideOf = async (call: TestFetch, user: string, dataset: string, file: string): Promise<Ids> => {
  const image = formWith(await dataFile('picture.png'), 'p.png', 'image/png', 'image')
  for (const [name, value] of Object.entries({ path: `user-${user}`, name: 'logo' })) image.append(name, value)
  const { id: logo } = await ok<{ id: string }>(call('/api/logos', { method: 'POST', body: image }))
  const ends = { source: { id: dataset, resourceType: 'dataset' }, target: { id: file, resourceType: 'file' } }
  const { id: relation } = await ok<{ id: string }>(call('/api/relations', { method: 'POST', json: ends }))
  const about = `filename ${btoa('half.txt')},dataset ${btoa(dataset)}`
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '100', 'upload-metadata': about }
  const location = (await call('/api/uploads', { method: 'POST', headers })).headers.get('location') ?? ''
  return { logo, path: `user-${user}`, relation, upload: location.replace(/^.*\//, '') }
}

/** Creates a sensor in a space, its stream, and a datapoint; resolves to their numbers. */
const measuredBy = async (call: TestFetch, space: string): Promise<Ids> => {
  const sensor = await newSensor(callsOf(call), { spaces: [space] })
  const stream = await newStream(callsOf(call), sensor)
  const at = '2017-01-25T09:30:00Z'
  const json = { start_time: at, end_time: at, type: 'Feature', geometry: pointAt(0, 0), properties: { ph: 7 }, stream_id: String(stream) }
  const { id: datapoint } = await ok<{ id: number }>(call('/api/geostreams/datapoints', { method: 'POST', json }))
  return { sensor: String(sensor), stream: String(stream), datapoint: String(datapoint) }
}

/** Creates one resource of each kind. */
export const furnish = async ({ call, id: user }: Person): Promise<Ids> => {
  const post = async (path: string, json: unknown): Promise<string> => (await ok<{ id: string }>(call(path, { method: 'POST', json }))).id
  const send = async (path: string): Promise<string> => {
    const body = formWith('picture', 'p.png', 'image/png')
    return (await ok<{ id: string }>(call(path, { method: 'POST', body }))).id
  }
  const space = await post('/api/spaces', { name: 'a space', description: '' })
  const collection = await post('/api/collections', { name: 'a collection', space })
  const child = await post('/api/collections', { name: 'another collection' })
  const dataset = await newDataset(call, { space: [space], collection: [collection] })
  const folder = await newFolder(call, dataset, 'a folder')
  const file = await upload(call, dataset, 'words in a file', 'file.txt', { query: `extract=false&folder_id=${folder}` })
  const comment = await (await call(`/api/files/${file}/comment`, { method: 'POST', json: { text: 'a comment' } })).text()
  const section = await post('/api/sections', { file_id: file, description: 'a section' })
  const preview = await send('/api/previews')
  const thumbnail = await send('/api/fileThumbnail')
  const tile = await send('/api/tiles')
  await ok(call(`/api/files/${file}/previews/${preview}`, { method: 'POST', json: {} }))
  const { job_id: job } = await ok<{ job_id: string }>(
    call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor: 'pounce.digest' } }),
  )
  const words = await vocabularyOf(call)
  const standard = await post('/api/standardvocab', ['a', 'b'])
  const context = await post('/api/contexts', { context_name: 'a context', '@context': {} })
  await ok(call(`/api/spaces/${space}/metadata`, { method: 'POST', json: { label: 'a field', type: 'string' } }))
  const [defined] = await ok<readonly { id: string }[]>(call(`/api/spaces/${space}/metadata`))
  const { document } = await ok<{ document: { id: string } }>(
    call('/api/metadata.jsonld', { method: 'POST', json: { file_id: file, content: { said: 'of a file' } } }),
  )
  await ok(call(`/api/spaces/${space}/invite`, { method: 'POST', json: { emails: ['guest@elsewhere.example'] } }))
  const [invited] = await ok<readonly { id: string }[]>(call(`/api/spaces/${space}/invitations`))
  const aside = await asideOf(call, user, dataset, file)
  const about = {
    ...words,
    ...aside,
    ...(await measuredBy(call, space)),
    standard,
    context,
    definition: String(defined?.id),
    metadata: document.id,
    invitation: String(invited?.id),
  }
  return {
    ...about,
    space,
    collection,
    child,
    dataset,
    folder,
    toFolder: folder,
    fromFolder: folder,
    file,
    comment,
    section,
    preview,
    thumbnail,
    tile,
    level: '3',
    job,
    user,
    to: dataset,
    kind: 'user',
    // There is no passkey: the id is well-formed, and bodies are rejected before the lookup.
    passkey: dataset,
    webhook: dataset,
    delivery: dataset,
  }
}

/** Boots a server with all plugins and one resource of each kind. */
export const furnished = async (options: Parameters<typeof bootForTest>[0] = {}): Promise<Furnished> => {
  const server = await bootForTest(options)
  const person = await newPerson(server, 'owner')
  const json = { name: 'a group' }
  const { id: group } = await ok<{ id: string }>(server.as(server.admin.key)('/api/groups', { method: 'POST', json }))
  const [role] = await ok<readonly { id: string }[]>(person.call('/api/roles'))
  const ids: Ids = { ...(await furnish(person)), group, role: String(role?.id), bulk: unknownId }
  await until(
    'the extractor to finish',
    () => ok<{ Status: string }>(person.call(`/api/extractions/${ids['file']}/status`)),
    ({ Status }) => Status === 'Done',
  )
  await server.drained()
  return { server, person, call: person.call, ids }
}
