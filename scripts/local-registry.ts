import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A package as `npm pack` left it. */
export interface PackedPackage {
  readonly tarball: string
  /** The content of its package.json. */
  readonly manifest: { readonly name: string; readonly version: string }
}

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
}

/** A registry that has some packages of ours, and all others from the real one: `npm install` by name gets both. */
export const startRegistry = async (packed: readonly PackedPackage[], upstream: string): Promise<LocalRegistry> => {
  const byName = new Map(packed.map(one => [one.manifest.name, one]))
  let url = ''

  const documentOf = async ({ manifest, tarball }: PackedPackage): Promise<object> => {
    const integrity = `sha512-${createHash('sha512')
      .update(await readFile(tarball))
      .digest('base64')}`
    const dist = { tarball: `${url}/-/${encodeURIComponent(manifest.name)}.tgz`, integrity }
    return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }
  }

  const answer = async ({ url: path = '/' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, tarballOf] = /^\/-\/(.+)\.tgz$/.exec(path) ?? []
    const one = byName.get(decodeURIComponent(tarballOf ?? path.slice(1)))
    if (!one) {
      response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end()
      return
    }
    const isTarball = tarballOf !== undefined
    const body = isTarball ? await readFile(one.tarball) : JSON.stringify(await documentOf(one))
    response.setHeader('content-type', isTarball ? 'application/octet-stream' : 'application/json').end(body)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(error => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
