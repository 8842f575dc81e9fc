import { createRequire } from 'node:module'
import type { Installation } from 'pounce/sdk'
import { PermissionCatalog, type PermissionDefinition, trimEnd } from 'pounce/sdk/kit'
import type { KernelConfig } from '../kernel/config/kernel-schema.ts'
import type { NamedPlugin } from '../kernel/plugin-graph.ts'

/** The version in package.json. */
export const programVersion: string = (createRequire(import.meta.url)('../../package.json') as { version: string }).version

/** Information about this installation. The instance's name and the URL are set during the start. */
export class InstallationInfo implements Installation {
  readonly version = programVersion
  readonly dataFolder: string
  readonly roles: ReadonlySet<'http' | 'worker'>
  readonly configuredPrivate?: boolean
  readonly admins: Installation['admins']
  readonly permissions: PermissionCatalog
  readonly #plugins: readonly string[]
  #isOn: (plugin: string) => boolean = () => true
  #instance: string | undefined
  #baseUrl: string

  constructor(config: KernelConfig, plugins: readonly NamedPlugin[]) {
    const { data, http, roles, access, admin, admins } = config
    this.dataFolder = data
    this.#plugins = plugins.map(({ name }) => name)
    this.permissions = new PermissionCatalog(
      plugins.flatMap(({ plugin }) => Object.entries<PermissionDefinition>(plugin.permissions ?? {})),
    )
    this.roles = new Set(roles)
    if (access.private !== undefined) this.configuredPrivate = access.private
    this.admins = [
      ...(admin.email === undefined ? [] : [{ email: admin.email, ...(admin.password === undefined ? {} : { password: admin.password }) }]),
      ...admins.filter(email => email !== admin.email).map(email => ({ email })),
    ]
    this.#baseUrl = trimEnd(http.baseUrl ?? `http://${http.host}:${http.port}`, '/')
  }

  get plugins(): readonly string[] {
    return this.#plugins.filter(this.#isOn)
  }

  get instance(): string {
    if (this.#instance === undefined) throw new Error('The installation id is unknown until the kernel has read its records')
    return this.#instance
  }

  get baseUrl(): string {
    return this.#baseUrl
  }

  /** Excludes the plugins that are switched off. */
  ofThoseOn(isOn: (plugin: string) => boolean): void {
    this.#isOn = isOn
  }

  named(instance: string): void {
    this.#instance = instance
  }

  /** Sets the URL that it listens on, used without a configured base URL. */
  reachedAt(url: string): void {
    this.#baseUrl = trimEnd(url, '/')
  }
}
