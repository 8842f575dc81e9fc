import type { TestFetch } from 'pounce/sdk/testing'
import { dataFile } from '../support/main-job.ts'
import { formWith, newDataset, newFolder, ok, upload } from '../support/scene.ts'

/** Kinds of resources that exist in each state. */
export const thingKinds = [
  ...['space', 'collection', 'dataset', 'folder', 'file', 'section', 'preview', 'thumbnail', 'metadata', 'comment', 'relation'],
  ...['vocabulary', 'term', 'definition', 'upload', 'logo', 'logoPath', 'sensor', 'stream', 'datapoint', 'user', 'mail'],
] as const
export type ThingKind = (typeof thingKinds)[number]

/** The creator of a resource, and its location. */
export interface Place {
  readonly call: TestFetch
  /** The account of the creator. */
  readonly user: string
  /** The space of the resource, which the creator may add to. */
  readonly space?: string
  readonly asSuperAdmin: TestFetch
  /** Resources that have their own public flag are created with it. */
  readonly isShown: boolean
}

const place = { type: 'Point', coordinates: [-88.2, 40.1, 0] }
const picture = await dataFile('picture.png')
const post = async <T = { id: string }>(call: TestFetch, path: string, json?: unknown, method = 'POST'): Promise<T> =>
  ok<T>(call(path, { method, ...(json === undefined ? {} : { json }) }))
const sent = async (call: TestFetch, path: string, body: FormData): Promise<string> =>
  (await ok<{ id: string }>(call(path, { method: 'POST', body }))).id

/** Related resources, each created on first use. */
export class Things {
  readonly #place: Place
  readonly #made = new Map<ThingKind, Promise<string>>()

  constructor(place: Place, given: Readonly<Partial<Record<ThingKind, string>>> = {}) {
    this.#place = place
    for (const [kind, id] of Object.entries(given)) this.#made.set(kind as ThingKind, Promise.resolve(id))
  }

  of(kind: ThingKind): Promise<string> {
    const known = this.#made.get(kind)
    if (known) return known
    const made = this.#make(kind)
    this.#made.set(kind, made)
    return made
  }

  /** Moves everything possible to the trash; a second call purges it. */
  async throwAway(by: TestFetch = this.#place.call): Promise<void> {
    for (const [kind, path] of [
      ['dataset', 'datasets'],
      ['collection', 'collections'],
    ] as const)
      if (this.#made.has(kind)) await post(by, `/api/${path}/${await this.of(kind)}`, undefined, 'DELETE')
  }

  async #make(kind: ThingKind): Promise<string> {
    const { call, user } = this.#place
    switch (kind) {
      case 'space':
        return this.#place.space ?? (await post(call, '/api/spaces', { name: 'a space', description: '' })).id
      case 'collection':
        return this.#putInSpace('Collection', (await post(call, '/api/collections', { name: 'a collection' })).id)
      case 'dataset':
        return this.#putInSpace('Dataset', await newDataset(call, {}))
      case 'folder':
        return newFolder(call, await this.of('dataset'), 'a folder')
      case 'file':
        return upload(call, await this.of('dataset'), 'words in a file', 'file.txt')
      case 'section':
        return (await post(call, '/api/sections', { file_id: await this.of('file'), description: 'a section' })).id
      case 'preview':
        return this.#derived('/api/previews', 'previews')
      case 'thumbnail':
        return this.#derived('/api/fileThumbnail', 'thumbnails')
      case 'metadata': {
        // By the extractor of the jobs: job keys and extractor keys cannot delete metadata of other agents.
        const agent = { '@type': 'cat:extractor', extractor_id: 'https://example.org/extractors/pounce.digest/1.0' }
        const path = `/api/files/${await this.of('file')}/metadata.jsonld`
        await post<string>(call, path, { agent, content: { said: 'of a file' } })
        const [newest] = await ok<{ id: string }[]>(call(path))
        return String(newest?.id)
      }
      case 'comment':
        return (await call(`/api/files/${await this.of('file')}/comment`, { method: 'POST', json: { text: 'a comment' } })).text()
      case 'relation': {
        const source = { id: await this.of('dataset'), resourceType: 'dataset' }
        const target = { id: await this.of('file'), resourceType: 'file' }
        return (await post(call, '/api/relations', { source, target })).id
      }
      case 'vocabulary': {
        const { space, asSuperAdmin, isShown } = this.#place
        const { id } = await post(call, `/api/vocabularies/createVocabularyFromJson?isPublic=${isShown}`, {
          name: 'words',
          keys: 'a',
          terms: [{ key: 'a' }],
        })
        if (space !== undefined) await post(asSuperAdmin, `/api/vocabularies/${id}/addToSpace/${space}?superAdmin=true`)
        return id
      }
      case 'term': {
        const answer = ok<{ terms: readonly { vocab_term_id: string }[] }>(call(`/api/vocabularies/${await this.of('vocabulary')}`))
        return String((await answer).terms[0]?.vocab_term_id)
      }
      case 'definition': {
        const path = `/api/spaces/${await this.of('space')}/metadata`
        await post(this.#place.asSuperAdmin, `${path}?superAdmin=true`, { label: `field ${nextWord()}`, type: 'string' })
        const all = await ok<readonly { id: string }[]>(this.#place.asSuperAdmin(`${path}?superAdmin=true`))
        return String(all.at(-1)?.id)
      }
      case 'upload': {
        const about = `filename ${btoa('half.txt')},dataset ${btoa(await this.of('dataset'))}`
        const headers = { 'tus-resumable': '1.0.0', 'upload-length': '100', 'upload-metadata': about }
        const answer = await call('/api/uploads', { method: 'POST', headers })
        return (answer.headers.get('location') ?? '').replace(/^.*\//, '')
      }
      case 'logo': {
        const image = formWith(picture, 'p.png', 'image/png', 'image')
        for (const [name, value] of Object.entries({ path: `space-${await this.of('space')}`, name: 'logo' })) image.append(name, value)
        return sent(this.#place.asSuperAdmin, '/api/logos?superAdmin=true', image)
      }
      case 'logoPath':
        await this.of('logo')
        return `space-${await this.of('space')}`
      case 'sensor':
        return this.#sensor()
      case 'stream': {
        const about = { name: 'a stream', type: 'Feature', geometry: place, properties: {}, sensor_id: await this.of('sensor') }
        return String((await post<{ id: number }>(call, '/api/geostreams/streams', about)).id)
      }
      case 'datapoint': {
        const about = { start_time: '2020-06-01T00:00:00Z', type: 'Feature', geometry: place, properties: { level: 1 } }
        return String((await post<{ id: number }>(call, '/api/geostreams/datapoints', { ...about, stream_id: await this.of('stream') })).id)
      }
      case 'user':
        return user
      case 'mail':
        throw new Error('the address is given')
    }
  }

  async #putInSpace(kind: 'Collection' | 'Dataset', id: string): Promise<string> {
    const { space, asSuperAdmin } = this.#place
    if (space !== undefined) await post(asSuperAdmin, `/api/spaces/${space}/add${kind}ToSpace/${id}?superAdmin=true`)
    return id
  }

  async #sensor(): Promise<string> {
    const { call, space, asSuperAdmin } = this.#place
    const about = { type: 'Feature', geometry: place, properties: { type: { id: 'matrix' } } }
    const { id } = await post<{ id: number }>(call, '/api/geostreams/sensors', { name: 'a sensor', ...about })
    const spaces = { ...about, spaces: [space] }
    if (space !== undefined) await post(asSuperAdmin, `/api/geostreams/sensors/${id}?superAdmin=true`, spaces, 'PUT')
    return String(id)
  }

  async #derived(path: string, group: string): Promise<string> {
    const { call } = this.#place
    const id = await sent(call, path, formWith(picture, 'p.png', 'image/png'))
    await post(call, `/api/files/${await this.of('file')}/${group}/${id}`, {})
    return id
  }
}

let words = 0

/** A new unique word. */
export const nextWord = (): string => {
  words += 1
  return `m${words}`
}
