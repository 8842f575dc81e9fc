import type { Client, Entry } from 'ldapts'
import { type AuthProvider, Log, type VerifiedIdentity, wire } from 'pounce/sdk'
import { Config, type LdapConfig } from './config.ts'
import { Directory } from './directory.ts'

const special = /[\\*()\p{Cc}]/gu

/** RFC 4515, section 3. Other characters may stand as they are, and must here: the library reads escaped bytes as Latin-1. */
const escaped = (value: string): string => value.replace(special, character => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Inserts a value for `{name}`, escaped so that it cannot change the structure of the filter. */
const fillFilter = (filter: string, name: string, value: string): string => filter.replaceAll(`{${name}}`, () => escaped(value))

/** Normalizes a DN for comparison: directories ignore case, and blanks around `,` and `=`. */
const plainDn = (dn: string): string =>
  dn
    .toLowerCase()
    .split(/([,=+])/)
    .map(part => part.trim())
    .join('')

type Library = typeof import('ldapts')

const maxLoginLength = 254

const maxPasswordLength = 1000

const maxGroups = 1000

/** Some directories return identifiers as bytes. */
const idOf = (entry: Entry, attribute: string | undefined): string | undefined => {
  if (attribute === undefined) return plainDn(entry.dn)
  const name = Object.keys(entry).find(key => key.toLowerCase() === attribute.toLowerCase())
  const [value] = name === undefined ? [] : [entry[name] ?? []].flat()
  if (!Buffer.isBuffer(value)) return value
  return /^[\x21-\x7e]+$/.test(value.toString('latin1')) ? value.toString('latin1') : value.toString('hex')
}

const valuesOf = (entry: Entry, attribute: string): readonly string[] => {
  const name = Object.keys(entry).find(key => key.toLowerCase() === attribute.toLowerCase())
  return name === undefined ? [] : [entry[name] ?? []].flat().filter(value => typeof value === 'string')
}

/** Accounts of a directory: a user is authenticated by a bind with the password that they entered. */
export class LdapAccounts implements AuthProvider {
  readonly id = 'ldap'
  readonly label: string
  readonly #config: LdapConfig
  readonly #directory: Directory
  readonly #log: Log

  constructor(config: LdapConfig, directory: Directory, log: Log) {
    this.#config = config
    this.label = config.label
    this.#directory = directory
    this.#log = log
  }

  async password(login: string, password: string): Promise<VerifiedIdentity | undefined> {
    // An empty password would be an anonymous bind, which the directory accepts (RFC 4513, 5.1.2).
    if (password === '' || password.length > maxPasswordLength) return undefined
    // Directories ignore control characters in comparisons.
    if (login === '' || login.length > maxLoginLength || /\p{Cc}/u.test(login)) return undefined
    return this.#directory.withConnection(async (client, library) => {
      const entry = await this.#find(client, library, login)
      const groups = entry ? await this.#groupsOf(client, entry) : []
      const isRight = await this.#isRight(client, library, entry?.dn, password)
      return entry && isRight ? this.#identityOf(entry, groups) : undefined
    })
  }

  async #find(client: Client, { SizeLimitExceededError }: Library, login: string): Promise<Entry | undefined> {
    const { baseDn = '', userFilter, idAttribute, emailAttribute, firstNameAttribute, lastNameAttribute, groupAttribute } = this.#config
    const { searchEntries } = await client
      .search(baseDn, {
        scope: 'sub',
        filter: fillFilter(userFilter, 'login', login),
        attributes: [
          emailAttribute,
          firstNameAttribute,
          lastNameAttribute,
          groupAttribute,
          ...(idAttribute === undefined ? [] : [idAttribute]),
        ],
        // Otherwise, bytes that are not valid text would be lost.
        explicitBufferAttributes: idAttribute === undefined ? [] : [idAttribute],
        sizeLimit: 2,
      })
      .catch((error: unknown) => {
        if (error instanceof SizeLimitExceededError) return { searchEntries: [] }
        throw error
      })
    if (searchEntries.length > 1) this.#log.warn('Several LDAP entries match one login name; sign-in refused', { login })
    return searchEntries.length === 1 ? searchEntries[0] : undefined
  }

  async #groupsOf(client: Client, entry: Entry): Promise<readonly string[]> {
    const { groupAttribute, groupBaseDn, groupFilter } = this.#config
    if (groupBaseDn === undefined) return valuesOf(entry, groupAttribute)
    const filter = fillFilter(groupFilter, 'dn', entry.dn)
    const { searchEntries } = await client.search(groupBaseDn, { scope: 'sub', filter, attributes: ['1.1'], sizeLimit: maxGroups })
    return searchEntries.map(({ dn }) => dn)
  }

  /** The directory is also queried for an unknown account, so that an unknown name takes as long as a wrong password. */
  async #isRight(client: Client, library: Library, dn: string | undefined, password: string): Promise<boolean> {
    const refusals = [
      library.InvalidCredentialsError,
      // For a name without an entry, from versions of 389 Directory Server before the fix of CVE-2020-35518.
      library.NoSuchObjectError,
      library.UnwillingToPerformError,
      library.InappropriateAuthError,
      library.InvalidDNSyntaxError,
      library.ConstraintViolationError,
    ]
    try {
      await client.bind(dn ?? `cn=nobody,${this.#config.baseDn}`, password.normalize('NFC'))
      return dn !== undefined
    } catch (error) {
      if (refusals.some(kind => error instanceof kind)) return false
      throw error
    }
  }

  #identityOf(entry: Entry, groups: readonly string[]): VerifiedIdentity | undefined {
    const { idAttribute, emailAttribute, firstNameAttribute, lastNameAttribute, onlyGroups, trustsEmail } = this.#config
    const own = new Set(groups.map(plainDn))
    if (onlyGroups.length > 0 && !onlyGroups.some(group => own.has(plainDn(group)))) return undefined
    const subject = idOf(entry, idAttribute)
    const [email] = valuesOf(entry, emailAttribute)
    if (email === undefined || !subject) {
      this.#log.warn('An LDAP entry has no email address or no id attribute; sign-in refused', {
        entry: entry.dn,
        attributes: [emailAttribute, idAttribute],
      })
      return undefined
    }
    const [firstName = ''] = valuesOf(entry, firstNameAttribute)
    const [lastName = ''] = valuesOf(entry, lastNameAttribute)
    return { provider: this.id, subject, email, isEmailVerified: trustsEmail, firstName, lastName, groups }
  }
}
wire(LdapAccounts, Config, Directory, Log)
