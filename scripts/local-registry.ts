import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A package created by `npm pack`. */
export interface PackedPackage {
  readonly tarball: string
  /** The content of its package.json. */
  readonly manifest: { readonly name: string; readonly version: string }
}

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
  /** Names of the packages published with `npm publish`. */
  readonly published: ReadonlySet<string>
}

/** The request body of `npm publish`. */
interface Publication {
  readonly name: string
  readonly versions: Readonly<Record<string, PackedPackage['manifest']>>
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

const maxPublicationBytes = 20_000_000

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > maxPublicationBytes) throw new Error(`The package exceeds ${maxPublicationBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** An npm registry with the given packages and those published to it; all others are proxied from upstream. */
export const startRegistry = async (packed: readonly PackedPackage[], upstream: string): Promise<LocalRegistry> => {
  const byName = new Map(packed.map(one => [one.manifest.name, { manifest: one.manifest, bytes: () => readFile(one.tarball) }]))
  const published = new Set<string>()
  let url = ''

  const documentOf = async ({ manifest, bytes }: { manifest: PackedPackage['manifest']; bytes(): Promise<Buffer> }): Promise<object> => {
    const integrity = `sha512-${createHash('sha512')
      .update(await bytes())
      .digest('base64')}`
    const dist = { tarball: `${url}/-/${encodeURIComponent(manifest.name)}.tgz`, integrity }
    return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }
  }

  const publish = async (request: IncomingMessage): Promise<void> => {
    const { name, versions, _attachments } = JSON.parse(await bodyOf(request)) as Publication
    const [manifest] = Object.values(versions)
    const [tarball] = Object.values(_attachments)
    if (!manifest || !tarball) throw new Error(`${name} has no version`)
    const bytes = Buffer.from(tarball.data, 'base64')
    byName.set(name, { manifest, bytes: async () => bytes })
    published.add(name)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = '/' } = request
    if (request.method === 'PUT') {
      await publish(request)
      response.writeHead(201).end('{}')
      return
    }
    const [, tarballOf] = /^\/-\/(.+)\.tgz$/.exec(path) ?? []
    const one = byName.get(decodeURIComponent(tarballOf ?? path.slice(1)))
    if (!one) {
      response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end()
      return
    }
    const isTarball = tarballOf !== undefined
    const body = isTarball ? await one.bytes() : JSON.stringify(await documentOf(one))
    response.setHeader('content-type', isTarball ? 'application/octet-stream' : 'application/json').end(body)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(error => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    published,
    [Symbol.asyncDispose]: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
