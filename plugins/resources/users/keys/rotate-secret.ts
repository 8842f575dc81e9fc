import { type Command, Invalid, wire } from 'pounce/sdk'
import { InstallationSecret } from './installation-secret.ts'

/** `pounce secret rotate`. */
export class RotateSecret implements Command {
  readonly name = 'secret rotate'
  readonly summary =
    'Replace the secret that signs job keys and sign-in notes and seals TOTP secrets; kernels that run follow within a second'
  readonly options = [
    {
      name: 'overlap-hours',
      summary:
        'Hours for which the current secret stays valid (default: resources.users.secretOverlapHours); use 0 after a leak: running jobs lose their keys, and TOTP must be enrolled again',
      takesValue: true,
    },
  ]
  #secret: InstallationSecret

  constructor(secret: InstallationSecret) {
    this.#secret = secret
  }

  async run({ options }: Parameters<Command['run']>[0]) {
    const text = options['overlap-hours']?.toString()
    const hours = text === undefined ? undefined : Number(text)
    if (hours !== undefined && !(Number.isInteger(hours) && hours >= 0 && hours <= 8760))
      throw new Invalid('overlap-hours must be a whole number of hours from 0 to 8760')
    const { validUntil } = await this.#secret.rotate(hours)
    return { rotated: true, previousValidUntil: validUntil.toISOString() }
  }
}
wire(RotateSecret, InstallationSecret)
