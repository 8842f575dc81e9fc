import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { adminKey, type ChildServer, type StartingServer, startChild } from './child-server.ts'
import { extracted } from './extracted.ts'
import { basic } from './people.ts'
import { newDataset, newFolder, ok, upload } from './scene.ts'
import { drained } from './until.ts'

/** The uploads: a file of `test/data`, its name on the server, its type, and the folder. The server changes the type of an archive. */
export const shipment = [
  { data: 'photo.jpg', name: 'photo.jpg', type: 'image/jpeg', folder: 'pictures' },
  { data: 'picture.png', name: 'Grün & 緑 🌿.png', type: 'image/png', folder: 'pictures' },
  { data: 'paper.pdf', name: 'paper.pdf', type: 'application/pdf', folder: undefined },
  { data: 'stations.csv', name: 'stations.csv', type: 'text/csv', folder: 'deep' },
  { data: 'notes.md', name: 'notes.md', type: 'text/markdown', folder: undefined },
  { data: 'Übersicht – 観測.md', name: 'Übersicht – 観測.md', type: 'text/markdown', folder: 'deep' },
  { data: 'tone.wav', name: 'tone.wav', type: 'audio/wav', folder: undefined },
  { data: 'bundle.zip', name: 'bundle.zip', type: 'multi/files-zipped', sentAs: 'application/zip', folder: 'deep' },
  { data: 'empty.bin', name: 'empty.bin', type: 'application/octet-stream', folder: undefined },
] as const

export type Name = (typeof shipment)[number]['name']

const account = { email: 'ann@example.org', password: 'a long password', firstName: 'Ann', lastName: 'Ash' }

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const dataFile = (name: string): Promise<Buffer> => readFile(fileURLToPath(new URL(`../data/${name}`, import.meta.url)))

/** An installation: the number of kernels, and their common settings. */
export interface Installed {
  readonly kernels: number
  readonly settings: Readonly<Record<string, string>>
}

/**
 * A user with a space, a dataset and folders on an installation that can be killed and restarted. With several kernels, requests are distributed
 * round-robin, as by a load balancer.
 */
export class MainJob {
  readonly folder: string
  readonly #installed: Installed
  #starting: readonly StartingServer[] = []
  #servers: readonly ChildServer[] = []
  #turn = 0
  #admin = ''
  #key = ''
  space = ''
  dataset = ''
  /** Ids of folders by name: `pictures`, and `deep` in `raw`. */
  readonly folders: Record<string, string> = {}
  readonly files = new Map<string, string>()

  constructor(folder: string, installed: Installed) {
    this.folder = folder
    this.#installed = installed
  }

  static async begin(installed: Installed): Promise<MainJob> {
    const job = new MainJob(await mkdtemp(join(tmpdir(), 'pounce-main-')), installed)
    await job.start()
    job.#admin = await adminKey(job.server)
    await ok(job.admin('/api/users', { method: 'POST', json: account }))
    const headers = { authorization: basic(account.email, account.password) }
    job.#key = (await ok<{ key: string }>(job.server.as()('/api/users/keys?name=main', { method: 'POST', headers }))).key
    return job
  }

  /** The next server in the rotation. */
  get server(): ChildServer {
    this.#turn += 1
    const server = this.#servers[this.#turn % this.#servers.length]
    if (!server) throw new Error('The server is not running')
    return server
  }

  /** Memory of the kernel that uses the most, in bytes. */
  rss = async (): Promise<number> => Math.max(...(await Promise.all(this.#servers.map(server => server.rss()))))

  /** Calls as the user. */
  call = (path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response> => this.server.as(this.#key)(path, init)

  admin = (path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response> => this.server.as(this.#admin)(path, init)

  async start(): Promise<void> {
    // Keeps links independent of the port.
    const settings = { POUNCE_HTTP__BASE_URL: 'http://data.example.org', ...this.#installed.settings }
    this.#starting = Array.from({ length: this.#installed.kernels }, (_, n) => startChild(join(this.folder, `kernel-${n}`), settings))
    this.#servers = await Promise.all(this.#starting.map(({ ready }) => ready))
  }

  async kill(): Promise<void> {
    for (const each of this.#starting) each.signal('SIGKILL')
    await Promise.all(this.#starting.map(({ ended }) => ended))
    this.#servers = []
  }

  async end(): Promise<void> {
    await this.kill()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  async furnish(): Promise<void> {
    const space = { name: 'Beech forest', description: 'Plots above the Rhine' }
    this.space = (await ok<{ id: string }>(this.call('/api/spaces', { method: 'POST', json: space }))).id
    this.dataset = await newDataset(this.call, { name: 'Canopy – 林冠', description: 'Light and leaves', space: [this.space] })
    this.folders['pictures'] = await newFolder(this.call, this.dataset, 'pictures')
    this.folders['raw'] = await newFolder(this.call, this.dataset, 'raw')
    this.folders['deep'] = await newFolder(this.call, this.dataset, 'Tiefe 深', this.folders['raw'])
  }

  async uploadAll(): Promise<void> {
    for (const { data, name, folder, ...file } of shipment) {
      const type = 'sentAs' in file ? file.sentAs : file.type
      const query = folder === undefined ? '' : `folder_id=${this.folders[folder]}`
      this.files.set(name, await upload(this.call, this.dataset, await dataFile(data), name, { type, query }))
    }
  }

  id(name: string): string {
    const id = this.files.get(name)
    if (id === undefined) throw new Error(`${name} was not uploaded`)
    return id
  }

  info(name: string): Promise<Readonly<Record<string, string>>> {
    return ok(this.call(`/api/files/${this.id(name)}/metadata`))
  }

  async extracted(name: string, limitMs?: number): Promise<void> {
    await extracted(this.call, this.id(name), limitMs)
  }

  drained(): Promise<void> {
    return drained(this.#servers.map(server => server.as(this.#admin)))
  }

  /** The metadata that one extractor added to a file. */
  async found(name: string, extractor: string): Promise<Readonly<Record<string, unknown>>> {
    const documents = await ok<{ content: Record<string, unknown> }[]>(
      this.call(`/api/files/${this.id(name)}/metadata.jsonld?extractor=${extractor}`),
    )
    if (documents.length !== 1) throw new Error(`${extractor} left ${documents.length} documents on ${name}`)
    return documents[0]?.content ?? {}
  }

  /** Ids of the hits of a query, sorted. */
  async search(query: string, more = ''): Promise<readonly string[]> {
    const { results } = await ok<{ results: { id: string }[] }>(this.call(`/api/search?query=${encodeURIComponent(query)}${more}`))
    return results.map(({ id }) => id).sort()
  }

  async bytes(path: string): Promise<{ readonly status: number; readonly type: string | null; readonly bytes: Buffer }> {
    const answer = await this.call(path)
    return { status: answer.status, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  async previews(
    name: string,
  ): Promise<readonly { readonly pv_route: string; readonly pv_contenttype: string; readonly pv_length: string; readonly p_id: string }[]> {
    const [match] = await ok<{ previews: [] }[]>(this.call(`/api/files/${this.id(name)}/getPreviews`))
    return match?.previews ?? []
  }

  /** Names of all descendants of a tree node. */
  async tree(nodeType: string, nodeId: string): Promise<unknown> {
    const nodes = await ok<{ id: string; name: string; type?: string }[]>(
      this.call(`/api/tree/getChildrenOfNode?nodeType=${nodeType}&nodeId=${nodeId}`),
    )
    const branches = nodes.map(async ({ id, name, type = 'folder' }) => [name, type === 'file' ? id : await this.tree(type, id)])
    return Object.fromEntries(await Promise.all(branches))
  }

  /** Everything visible to the user, for comparison before and after a crash. */
  async state(): Promise<unknown> {
    const ofFile = async (name: string) => {
      const at = `/api/files/${this.id(name)}`
      const json = (path: string) => ok(this.call(at + path))
      const previews = await this.previews(name)
      const { thumbnail, ...info } = await this.info(name)
      return {
        info,
        bytes: sha256((await this.bytes(`${at}?tracking=false`)).bytes),
        metadata: await json('/metadata.jsonld'),
        tags: await json('/tags'),
        comments: await json('/comments'),
        paths: await json('/paths'),
        runs: await json('/extractions'),
        previews: await Promise.all(
          previews.map(async each => [each, sha256((await this.bytes(`${each.pv_route}?tracking=false`)).bytes)]),
        ),
        thumbnail: thumbnail === null ? null : sha256((await this.bytes(`/api/thumbnails/${thumbnail}`)).bytes),
      }
    }
    const files = await Promise.all(shipment.map(async ({ name }) => [name, await ofFile(name)]))
    const { counts } = await ok<{ counts: unknown }>(this.call('/api/status'))
    const dataset = await ok<object>(this.call(`/api/datasets/${this.dataset}`))
    return { files: Object.fromEntries(files), counts, dataset, tree: await this.tree('space', this.space) }
  }
}
