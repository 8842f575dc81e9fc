import { randomInt } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Installation } from 'pounce/sdk'
import type { KernelConfig } from './config/kernel-schema.ts'

const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

/** Ten letters and digits that are hard to mistake for each other. */
export const newInstanceName = (): string => Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('')

/** The version in package.json. */
export const programVersion: string = (createRequire(import.meta.url)('../package.json') as { version: string }).version

/** What is known of this installation. The instance's name and the address come in during the start. */
export class KnownInstallation implements Installation {
  readonly version = programVersion
  readonly dataFolder: string
  readonly plugins: readonly string[]
  readonly roles: ReadonlySet<'http' | 'worker'>
  readonly isPrivate: boolean
  readonly admins: Installation['admins']
  #instance: string | undefined
  #baseUrl: string

  constructor(config: KernelConfig, plugins: readonly string[]) {
    const { data, http, roles, access, admin, admins } = config
    this.dataFolder = data
    this.plugins = plugins
    this.roles = new Set(roles)
    this.isPrivate = access.private
    this.admins = [
      ...(admin.email === undefined ? [] : [{ email: admin.email, ...(admin.password === undefined ? {} : { password: admin.password }) }]),
      ...admins.filter(email => email !== admin.email).map(email => ({ email })),
    ]
    this.#baseUrl = (http.baseUrl ?? `http://${http.host}:${http.port}`).replace(/\/+$/, '')
  }

  get instance(): string {
    if (this.#instance === undefined) throw new Error('The installation has no name before the kernel has read its records')
    return this.#instance
  }

  get baseUrl(): string {
    return this.#baseUrl
  }

  named(instance: string): void {
    this.#instance = instance
  }

  /** The address it listens on, where no base URL is configured. */
  reachedAt(url: string): void {
    this.#baseUrl = url.replace(/\/+$/, '')
  }
}
