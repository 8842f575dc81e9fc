import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { type IncomingResponse, send, textOf } from './http-client.ts'
import { ServerClient, type ServerKind } from './server-client.ts'

interface Found {
  readonly url: string
  readonly kind: ServerKind
  readonly version: string
}

const versionIn = (body: string): { readonly number: string; readonly build: string } | undefined => {
  try {
    const { version } = JSON.parse(body) as { readonly version?: { readonly number?: unknown; readonly build?: unknown } }
    return version && { number: String(version.number ?? ''), build: String(version.build ?? '') }
  } catch {
    return undefined
  }
}

const isList = (body: string): boolean => {
  try {
    return Array.isArray(JSON.parse(body))
  } catch {
    return false
  }
}

/** The base URL of the server that responded to a probe, after redirects. */
const baseOf = ({ url }: IncomingResponse, probe: string): string => `${url.origin}${url.pathname.slice(0, -probe.length)}`

const probe = async (base: string, path: string): Promise<{ readonly response: IncomingResponse; readonly body: string }> => {
  const response = await send(new URL(base + path), { method: 'GET', headers: { accept: 'application/json', 'user-agent': 'pounce' } })
  return { response, body: await textOf(response) }
}

/** Clowder before 1.9 does not report a version, but its list of spaces is public. */
const detectedAt = async (base: string): Promise<Found | undefined> => {
  const { response, body } = await probe(base, '/api/version')
  const version = response.status === 200 ? versionIn(body) : undefined
  if (version) {
    const kind = version.build === 'pounce' ? 'pounce' : 'clowder'
    return { url: baseOf(response, '/api/version'), kind, version: version.number }
  }
  const spaces = await probe(base, '/api/spaces')
  if (spaces.response.status !== 200 || !isList(spaces.body)) return undefined
  return { url: baseOf(spaces.response, '/api/spaces'), kind: 'clowder', version: '1' }
}

/** Finds the server for a URL, which may be that of a page. Throws if there is none. */
export const detectServer = async (address: string): Promise<Found> => {
  const { origin, pathname } = new URL(address)
  const names = pathname.split('/').filter(name => name !== '')
  for (let count = Math.min(names.length, 8); count >= 0; count -= 1) {
    const base = [origin, ...names.slice(0, count)].join('/')
    try {
      const found = await detectedAt(base)
      if (found) return found
    } catch (error) {
      throw new StartupError(`${origin} is unreachable: ${messageOf(error)}. Check the address and the network`, { cause: error })
    }
  }
  throw new StartupError(
    `${address} is not a Pounce or Clowder server: no response at ${address}/api/version. If the server has a base path, add it to the address`,
  )
}

/** Default number of retries after transient failures. */
export const usualRetries = 4

export const clientFor = (
  { url, kind, key }: { readonly url: string; readonly kind: ServerKind; readonly key?: string | undefined },
  { retries = usualRetries, onWait = () => undefined }: { readonly retries?: number; readonly onWait?: (message: string) => void } = {},
): ServerClient => new ServerClient({ url, kind, key }, retries, onWait)
