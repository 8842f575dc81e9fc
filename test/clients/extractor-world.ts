import { bootForTest, type LiveServer, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { placesOn } from '../support/server-places.ts'
import { recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import type { Release } from './pyclowder.ts'
import { type ExtractorOptions, RunningExtractor } from './running-extractor.ts'

/** A run as returned by the API. */
export interface Run {
  readonly id: string
  readonly extractor_id: string
  readonly status: string
  readonly messages: readonly { readonly status: string }[]
}
/** A JSON-LD document as returned by the API. */
export interface Metadata {
  readonly content: Readonly<Record<string, unknown>>
  readonly agent: Readonly<Record<string, unknown>>
}
type Kind = 'files' | 'datasets'

/** An upload. */
export const text = 'one two three\nfour\n'

/** RabbitMQ, in addition to the queue of built-in extractors. */
const plugins = [
  ...recordPlugins,
  'transport.queue',
  'resources.sections',
  'resources.tags',
  'resources.previews',
  'resources.extractions',
  'extractors.digest',
  'previewers.basic',
]

/** A server on a new virtual host, accounts, and extractors of one release. */
export class ExtractorWorld {
  readonly release: Release
  readonly server: TestServer
  readonly broker: string
  ann: Somebody
  readonly bob: Somebody
  #ends: readonly (() => Promise<void>)[]
  #running: RunningExtractor[] = []

  private constructor(
    release: Release,
    server: TestServer,
    broker: string,
    people: readonly [Somebody, Somebody],
    ends: readonly (() => Promise<void>)[],
  ) {
    this.release = release
    this.server = server
    this.broker = broker
    this.ann = people[0]
    this.bob = people[1]
    this.#ends = ends
  }

  static async open(release: Release, url: (name: LiveServer) => string): Promise<ExtractorWorld> {
    const ends: (() => Promise<void>)[] = []
    const { settings, broker = '' } = await placesOn({ teardown: end => ends.push(end) }, url, ['transport.rabbitmq'])
    const server = await bootForTest({ plugins, env: settings, config: { access: { private: true } } })
    return new ExtractorWorld(release, server, broker, [await somebody(server, 'ann'), await somebody(server, 'bob')], ends)
  }

  async close(): Promise<void> {
    await this.stopExtractors()
    await this.server.stop()
    for (const end of this.#ends.toReversed()) await end()
  }

  /** Resolves when the extractor listens to its queue. */
  async start(program: ExtractorOptions['program'], env: Readonly<Record<string, string>> = {}, queue = `test.${program}`): Promise<void> {
    const { release, broker } = this
    this.#running.push(await RunningExtractor.start({ release, program, broker, env }, queue))
  }

  async stopExtractors(): Promise<void> {
    for (const extractor of this.#running.splice(0)) await extractor.stop()
  }

  /** Restarts the server with the same data. */
  async restart(): Promise<void> {
    await this.server.restart()
    const call = this.server.as(this.ann.key)
    this.ann = { ...this.ann, ...callsOf(call), call }
  }

  async known(name: string, query = ''): Promise<void> {
    await until(
      `${name} to be registered`,
      async () => (await this.ann.get(`/api/extractors/${name}${query}`)).status,
      status => status === 200,
    )
  }

  /** Enables automatic runs of exactly these extractors of the tests. */
  async enable(...names: readonly string[]): Promise<void> {
    const call = this.server.as(this.server.admin.key)
    const { enabled } = await ok<{ enabled: string[] }>(call('/api/extractors/enabled'))
    const others = enabled.filter(name => !name.startsWith('test.'))
    await ok(call('/api/extractors/enabled', { method: 'POST', json: { enabled: [...others, ...names] } }))
  }

  async choose(space: string, choice: { readonly enabled: readonly string[]; readonly disabled: readonly string[] }): Promise<void> {
    await ok(this.ann.call(`/api/spaces/${space}/extractors`, { method: 'PUT', json: choice }))
  }

  runsOf(kind: Kind, id: string): Promise<Run[]> {
    return ok<Run[]>(this.ann.call(`/api/${kind}/${id}/extractions`))
  }

  /** Waits until all events are delivered; resolves to whether the extractor got a job. */
  async wasRequested(kind: Kind, id: string, extractor: string): Promise<boolean> {
    await this.server.drained()
    return (await this.runsOf(kind, id)).some(run => run.extractor_id === extractor)
  }

  /** Resolves to the run when it has ended, successfully or not. */
  async ended(kind: Kind, id: string, extractor: string, job?: string): Promise<Run> {
    const isMeant = (run: Run) => run.extractor_id === extractor && (job === undefined || run.id === job)
    const isOver = (run: Run | undefined) => run !== undefined && /^DONE$|StatusMessage.error|^Cancel Success/.test(run.status)
    return (await until(`${extractor} to finish with ${id}`, async () => (await this.runsOf(kind, id)).find(isMeant), isOver)) as Run
  }

  found(kind: Kind, id: string, extractor: string): Promise<Metadata[]> {
    return ok<Metadata[]>(this.ann.call(`/api/${kind}/${id}/metadata.jsonld?extractor=${extractor}`))
  }

  async submit(kind: Kind, id: string, extractor: string, parameters: object = {}): Promise<string> {
    const json = { extractor, parameters }
    return (await ok<{ job_id: string }>(this.ann.call(`/api/${kind}/${id}/extractions`, { method: 'POST', json }))).job_id
  }

  /** Uploads a text and waits until it is PROCESSED. */
  async newText(dataset?: string): Promise<string> {
    const file = await upload(this.ann.call, dataset ?? (await newDataset(this.ann.call)), text, 'text.txt', { query: '' })
    await this.processed(file)
    return file
  }

  async processed(file: string): Promise<void> {
    const look = async () => (await ok<{ status: string }>(this.ann.call(`/api/files/${file}/metadata`))).status
    await until(`${file} to be PROCESSED`, look, seen => seen === 'PROCESSED')
  }
}
