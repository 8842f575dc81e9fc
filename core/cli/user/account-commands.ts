import { hostname } from 'node:os'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import { accountOf, type RunUserCommand, signedInClient, textOption, type UserContext } from './command-context.ts'
import { chosenServer, credentialPath, normalizedUrl, removeServer, savedServers, saveServer } from './credentials.ts'
import { clientFor, detectServer } from './detection.ts'
import { inputLine, isInteractive, promptLine, promptSecret } from './prompt.ts'
import { RequestRefused, type ServerClient } from './server-client.ts'

interface NewKey {
  readonly key: string
  readonly keyName: string
}

const maxKeyNames = 50

const basic = (email: string, password: string): string => `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`

/** Rethrows a refused sign-in with the server's message, without the advice to sign in. */
const inWordsOfServer = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.status !== 401) throw error
    throw new StartupError(`Sign-in refused: ${String(error.details['message'] ?? 'wrong email address or password')}`, { cause: error })
  }
}

/** Creates a key named after this computer, with a number added if the name is in use. */
const createKey = async (client: ServerClient, headers: Readonly<Record<string, string>>): Promise<NewKey> => {
  const keys = await client.json<readonly { readonly name: string }[]>('GET', '/api/users/keys', { headers })
  const names = new Set(keys.map(({ name }) => name))
  const base = `pounce@${hostname().slice(0, 100)}`
  const keyName = Array.from({ length: maxKeyNames }, (_, at) => (at === 0 ? base : `${base}-${at + 1}`)).find(name => !names.has(name))
  if (keyName === undefined) throw new StartupError(`There are already ${maxKeyNames} keys named ${base}: delete some on your account page`)
  const { key } = await client.json<{ readonly key: string }>('POST', '/api/users/keys', { query: { name: keyName }, headers })
  return { key, keyName }
}

const cookieOf = async (client: ServerClient, path: string, json: object): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  const { response } = await client.attemptText(path, { method: 'POST', body: Buffer.from(JSON.stringify(json)), headers })
  return response.header('set-cookie')?.split(';')[0] ?? ''
}

interface PasswordAccount {
  readonly email: string
  readonly password: string
}

/** The cookie of a new session. Unlike Basic authentication, a session supports directory accounts and second factors. */
const sessionOf = async (client: ServerClient, account: PasswordAccount): Promise<string> => {
  try {
    return await cookieOf(client, '/api/login', account)
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.code !== 'second-factor-required') throw error
    const { challenge } = error.details
    const code = (isInteractive() ? await promptLine('Second-factor code: ') : await inputLine()).trim()
    if (code === '')
      throw new StartupError('This account has a second factor: add its code on the line after the password, or use --key', {
        cause: error,
      })
    return cookieOf(client, '/api/login/second-factor', { challenge, code })
  }
}

const keyBySession = async (client: ServerClient, account: PasswordAccount): Promise<NewKey> => {
  const headers = { cookie: await sessionOf(client, account), 'sec-fetch-site': 'same-origin' }
  try {
    return await createKey(client, headers)
  } finally {
    await client.json('POST', '/api/logout', { headers })
  }
}

const keyByPassword = async (context: UserContext, client: ServerClient): Promise<NewKey> => {
  const email = textOption(context, 'email') ?? (isInteractive() ? (await promptLine('Email: ')).trim() : undefined)
  if (email === undefined) throw new UsageError('Add --email and write the password to standard input, or use --key')
  const password = isInteractive() ? await promptSecret('Password: ') : await inputLine()
  const account = { email, password }
  return inWordsOfServer(
    client.kind === 'pounce' ? keyBySession(client, account) : createKey(client, { authorization: basic(email, password) }),
  )
}

const givenKey = async (context: UserContext): Promise<string | undefined> => {
  const key = textOption(context, 'key')
  if (key !== '-') return key
  return isInteractive() ? promptSecret('API key: ') : inputLine()
}

const isLocal = (url: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)

/** Signs in: stores a key for the server and makes it the default server. */
export const login: RunUserCommand = async context => {
  const [address] = context.arguments as [string]
  const { url, kind, version } = await detectServer(normalizedUrl(address))
  if (url.startsWith('http:') && !isLocal(url))
    context.output.err(`Warning: ${url} has no TLS, so others can read your password and your data\n`)
  const key = await givenKey(context)
  const created: { readonly key: string; readonly keyName?: string } =
    key === undefined ? await keyByPassword(context, clientFor({ url, kind })) : { key: key.trim() }
  const me = await inWordsOfServer(accountOf(clientFor({ url, kind, key: created.key })))
  const before = (await savedServers()).servers[url]
  await saveServer(url, { kind, email: me.email, ...created })
  // Revoked with the old key itself: the new key may belong to another account, or have the same name.
  if (before?.keyName !== undefined) await revoke(clientFor({ url, kind, key: before.key }), before.keyName)
  return {
    server: url,
    software: kind === 'pounce' ? `Pounce ${version}` : `Clowder ${version}`,
    email: me.email,
    key: created.keyName ?? 'given',
    storedIn: credentialPath(),
  }
}

/** Ignores a key that no longer exists. */
const revoke = async (client: ServerClient, name: string): Promise<void> => {
  try {
    await client.json('DELETE', `/api/users/keys/${encodeURIComponent(name)}`)
  } catch (error) {
    if (!(error instanceof RequestRefused) || ![401, 404].includes(error.status)) throw error
  }
}

/** Revokes the key that `login` created and deletes it from the file. */
export const logout: RunUserCommand = async context => {
  const { url, saved } = await chosenServer({ option: textOption(context, 'server') })
  if (!saved) throw new StartupError(`Not signed in to ${url}`)
  await removeServer(url)
  try {
    if (saved.keyName !== undefined) await revoke(clientFor({ url, kind: saved.kind, key: saved.key }), saved.keyName)
  } catch (error) {
    throw new StartupError(`The key was deleted here, but ${saved.keyName} is still valid on the server: ${messageOf(error)}`, {
      cause: error,
    })
  }
  return { server: url, key: saved.keyName === undefined ? 'deleted here; it is still valid on the server' : `${saved.keyName} revoked` }
}

/** Shows the account and the server that commands use. */
export const whoami: RunUserCommand = async context => {
  const { client, server, account: me } = await signedInClient(context)
  const { servers } = await savedServers()
  const others = Object.keys(servers).filter(url => url !== client.url)
  return {
    server: client.url,
    software: client.kind === 'pounce' ? 'Pounce' : 'Clowder',
    id: me.id,
    name: me.fullName ?? '',
    email: me.email,
    key: server.saved?.keyName ?? 'given',
    ...(others.length === 0 ? {} : { otherServers: others }),
  }
}
