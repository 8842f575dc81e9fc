import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { type AuthProvider, configPort, s, type VerifiedIdentity, wire } from 'pounce/sdk'

const hashForm = '^[0-9a-f]{32}:[0-9a-f]{64}$'

export const config = s.Object({
  accounts: s.Array(
    s.Object({
      email: s.String({ minLength: 3, maxLength: 254, description: 'Email address' }),
      firstName: s.String({ minLength: 1, description: 'First name' }),
      lastName: s.String({ minLength: 1, description: 'Last name' }),
      passwordHash: s.String({ pattern: hashForm, secret: true, description: 'Salt and scrypt hash of the password; see the README' }),
    }),
    { default: [], maxItems: 1000, description: 'People who can sign in' },
  ),
})
const Config = configPort(config)

const scryptOf: (secret: Buffer, salt: Buffer, length: number) => Promise<Buffer> = promisify(scrypt)
const maxPasswordLength = 1000

/**
 * Unicode normalization makes equivalent spellings of a password equal. Hashing first is needed because scrypt treats passwords that differ in trailing zero
 * bytes as equal.
 */
const derive = (password: string, salt: Buffer): Promise<Buffer> =>
  scryptOf(createHash('sha256').update(password.normalize('NFC')).digest(), salt, 32)

/** Computes the `passwordHash` of a password. */
export const hashOf = async (password: string): Promise<string> => {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt)).toString('hex')}`
}

/** Compared for unknown accounts, so that they take as long as a wrong password. */
const nobody = `${'0'.repeat(32)}:${'0'.repeat(64)}`

/** Authenticates accounts listed in the configuration. */
export class ListedAccounts implements AuthProvider {
  readonly id = 'template'
  readonly #accounts: s.Static<typeof config>['accounts']

  constructor({ accounts }: s.Static<typeof config>) {
    this.#accounts = accounts
  }

  async password(email: string, password: string): Promise<VerifiedIdentity | undefined> {
    const known = this.#accounts.find(account => account.email.toLowerCase() === email.toLowerCase())
    const [salt = '', hash = ''] = (known?.passwordHash ?? nobody).split(':')
    const derived = await derive(password.slice(0, maxPasswordLength), Buffer.from(salt, 'hex'))
    const isRight = timingSafeEqual(derived, Buffer.from(hash, 'hex')) && password.length <= maxPasswordLength
    if (!known || !isRight) return undefined
    const { firstName, lastName } = known
    const subject = known.email.toLowerCase()
    return { provider: this.id, subject, email: subject, isEmailVerified: true, firstName, lastName, groups: [] }
  }
}
wire(ListedAccounts, Config)
