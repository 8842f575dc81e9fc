import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { StartupError } from '../../kernel/startup-error.ts'
import type { ServerAccess, ServerKind } from './server-client.ts'

/** A server with a stored sign-in. */
export interface SavedServer {
  readonly kind: ServerKind
  readonly key: string
  readonly email: string
  /** The name of a key created by `login`, which `logout` revokes. */
  readonly keyName?: string
}

interface CredentialFile {
  /** The URL of the last sign-in: the default server. */
  readonly current?: string
  readonly servers: Readonly<Record<string, SavedServer>>
}

/** The path of the credential file: `~/.config/pounce/credentials.json`. */
export const credentialPath = (): string => join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'pounce', 'credentials.json')

/** The URL without query, fragment and trailing slashes; https is the default scheme. */
export const normalizedUrl = (text: string): string => {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  if (!url || url.hostname === '') throw new StartupError(`${text} is not a server URL: use a form such as https://data.example.org`)
  let path = url.pathname
  while (path.endsWith('/')) path = path.slice(0, -1)
  return `${url.origin}${path}`
}

const readFileOf = async (path: string): Promise<CredentialFile> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{"servers":{}}'
    throw new StartupError(`${path} is not readable: ${error.message}`, { cause: error })
  })
  try {
    const file = JSON.parse(text) as CredentialFile
    return { ...file, servers: file.servers ?? {} }
  } catch (error) {
    throw new StartupError(`${path} is not JSON: delete it and sign in again`, { cause: error })
  }
}

const writeFileOf = async (path: string, file: CredentialFile): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}`
  await writeFile(next, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 })
  await chmod(next, 0o600)
  await rename(next, path)
}

/** The servers with a stored sign-in. */
export const savedServers = async (): Promise<CredentialFile> => readFileOf(credentialPath())

/** Stores the server and makes it the default. */
export const saveServer = async (url: string, server: SavedServer): Promise<void> => {
  const path = credentialPath()
  const { servers } = await readFileOf(path)
  await writeFileOf(path, { current: url, servers: { ...servers, [url]: server } })
}

export const removeServer = async (url: string): Promise<void> => {
  const path = credentialPath()
  const { current, servers } = await readFileOf(path)
  const left = Object.fromEntries(Object.entries(servers).filter(([one]) => one !== url))
  const next = current === url ? Object.keys(left)[0] : current
  await writeFileOf(path, { ...(next === undefined ? {} : { current: next }), servers: left })
}

const isBelow = (url: string, server: string): boolean => url === server || url.startsWith(`${server}/`)

/** The saved server for a name or URL: the longest one that is a prefix of the URL, so that page URLs match too. */
const savedUrlFor = (named: string, urls: readonly string[]): string | undefined => {
  if (/^https?:\/\//i.test(named)) {
    const wanted = normalizedUrl(named)
    return urls.filter(url => isBelow(wanted, url)).sort((one, other) => other.length - one.length)[0]
  }
  const matching = urls.filter(url => new URL(url).host === named || url.replace(/^https?:\/\//, '') === named)
  if (matching.length > 1)
    throw new StartupError(`Several servers match ${named}: ${matching.join(', ')}. Specify the full URL of one of them`)
  return matching[0]
}

/** Sources of the server, in order of precedence. */
export interface ServerChoice {
  /** From `--server`. */
  readonly option?: string | undefined
  /** The URL of a page in an argument. */
  readonly page?: string | undefined
}

/** A server to use; its kind is unknown if the key is from the environment. */
export type ChosenServer = Omit<ServerAccess, 'kind'> & { readonly kind: ServerKind | undefined; readonly saved: SavedServer | undefined }

/** `POUNCE_KEY`, which belongs to `POUNCE_SERVER` if that is set: the address of a page on another server must not receive it. */
const environmentKey = ({ option, page }: ServerChoice, urls: readonly string[]): string | undefined => {
  const { POUNCE_KEY: key, POUNCE_SERVER: named } = process.env
  if (!key || !named || option !== undefined || page === undefined) return key || undefined
  return isBelow(normalizedUrl(page), savedUrlFor(named, urls) ?? normalizedUrl(named)) ? key : undefined
}

/** The server that a command uses. Throws if no sign-in is stored for it. */
export const chosenServer = async ({ option, page }: ServerChoice): Promise<ChosenServer> => {
  const { current, servers } = await savedServers()
  const key = environmentKey({ option, page }, Object.keys(servers))
  const named = option ?? page ?? (process.env['POUNCE_SERVER'] || undefined)
  const url = named === undefined ? current : savedUrlFor(named, Object.keys(servers))
  const saved = url === undefined ? undefined : servers[url]
  if (url !== undefined && saved) return { url, kind: saved.kind, key: key ?? saved.key, saved }
  if (named === undefined) throw new StartupError('Sign in first: pounce login https://…')
  const address = normalizedUrl(named)
  if (key === undefined) throw new StartupError(`Sign in first: pounce login ${address}`)
  return { url: address, kind: undefined, key, saved: undefined }
}
