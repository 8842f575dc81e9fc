import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Client } from 'ldapts'
import { Invalid, Log, Problem, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { Config, type LdapConfig } from './config.ts'

type Library = typeof import('ldapts')

/** Maximum number of concurrent sign-ins; further ones get 503. */
const maxConnections = 100

/** Rejects unusable settings, with a message that names the setting. */
const checkConfig = ({ url, baseDn, bindDn, bindPassword }: LdapConfig): void => {
  if (url === undefined) throw new Invalid('auth.ldap.url is required, such as `ldaps://ldap.example.org`')
  if (baseDn === undefined) throw new Invalid('auth.ldap.baseDn is required, such as `ou=people,dc=example,dc=org`')
  if ((bindDn === undefined) !== (bindPassword === undefined))
    throw new Invalid('auth.ldap.bindDn and auth.ldap.bindPassword must be set together; set neither for an anonymous bind')
}

/** Connections to the directory: one per sign-in, since a bind changes the identity of a connection. */
export class Directory {
  readonly #config: LdapConfig
  readonly #log: Log
  #library: Library | undefined
  #authority: string | undefined
  #open = 0

  constructor(config: LdapConfig, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** The directory itself may be unavailable: other kinds of accounts work without it. */
  async start(): Promise<void> {
    checkConfig(this.#config)
    const { caFile } = this.#config
    if (caFile !== undefined)
      this.#authority = await readFile(caFile, 'utf8').catch((cause: unknown) => {
        throw new Invalid(`auth.ldap.caFile: ${caFile} cannot be read`, { cause })
      })
    this.#library = await import('ldapts')
  }

  /** Resolves when the directory responds and accepts `bindDn`. */
  async health(): Promise<void> {
    await this.withConnection(async () => undefined)
  }

  /** Opens a connection bound as `bindDn`, and closes it afterwards. Rejects with `Unavailable` when the directory is unavailable or refuses the bind. */
  async withConnection<T>(work: (client: Client, library: Library) => Promise<T>): Promise<T> {
    if (!this.#library) throw new Error('auth.ldap was not started')
    if (this.#open >= maxConnections) throw new Unavailable('Too many concurrent sign-ins')
    this.#open += 1
    const client = this.#connect(this.#library)
    try {
      await this.#introduce(client, this.#library)
      return await work(client, this.#library)
    } catch (error) {
      if (error instanceof Problem) throw error
      const { NoSuchObjectError, InsufficientAccessError } = this.#library
      if (error instanceof NoSuchObjectError || error instanceof InsufficientAccessError) {
        this.#log.error(
          'The LDAP directory has no entry auth.ldap.baseDn or auth.ldap.groupBaseDn, or auth.ldap.bindDn has no right to search it',
        )
        throw new Unavailable('The LDAP directory rejected the search', { cause: error })
      }
      this.#log.error('Unexpected response from the LDAP directory', { cause: error })
      throw new Unavailable('The LDAP directory is unreachable', { cause: error })
    } finally {
      this.#open -= 1
      await client.unbind().catch((error: unknown) => this.#log.debug('An LDAP connection was already closed', { cause: error }))
    }
  }

  #connect({ Client }: Library): Client {
    const { url = '', timeoutMs } = this.#config
    let isFirst = true
    return new Client({
      url,
      timeout: timeoutMs,
      connectTimeout: timeoutMs,
      ...(url.startsWith('ldaps:') ? { tlsOptions: this.#tls() } : {}),
      // The library reconnects by itself, and a new connection is neither encrypted nor bound.
      createConnection: ((...options: Parameters<typeof connect>) => {
        if (!isFirst) throw new Unavailable('The directory closed the connection')
        isFirst = false
        return connect(...options)
      }) as typeof connect,
    })
  }

  #tls(): { readonly minVersion: 'TLSv1.2'; readonly ca?: string } {
    return { minVersion: 'TLSv1.2', ...(this.#authority === undefined ? {} : { ca: this.#authority }) }
  }

  async #introduce(client: Client, { InvalidCredentialsError }: Library): Promise<void> {
    const { url = '', startTls, bindDn = '', bindPassword = '' } = this.#config
    if (url.startsWith('ldap:') && startTls) await client.startTLS(this.#tls())
    await client.bind(bindDn, bindPassword).catch((error: unknown) => {
      if (!(error instanceof InvalidCredentialsError)) throw error
      this.#log.error('The LDAP directory rejects auth.ldap.bindDn and auth.ldap.bindPassword')
      throw new Unavailable('The LDAP directory rejected the search', { cause: error })
    })
  }
}
wire(Directory, Config, Log)

/** Whether the directory responds, for the status page. */
export class LdapStatus implements StatusPart {
  readonly name = 'ldap'
  readonly details: Readonly<Record<string, string>>
  readonly #directory: Directory

  constructor({ url = '', baseDn = '' }: LdapConfig, directory: Directory) {
    this.details = { url, baseDn }
    this.#directory = directory
  }

  async check(): Promise<undefined> {
    await this.#directory.health()
  }
}
wire(LdapStatus, Config, Directory)
